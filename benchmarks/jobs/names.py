"""Pools of names: people, projects, machines, paths. Drawn, never fixed, so that no rule can lean on one."""

from __future__ import annotations

from random import Random

USERS = ["hlin", "okoro", "rdiaz", "asorel", "mkaplan", "jwu", "tanaka", "pnair", "svc-train", "bruno", "lea"]
PROJECTS = ["sft-7b", "lm-pretrain", "vlm", "speech-enc", "moe16", "llama-ft", "diffusion-xl", "proteins", "rm-13b",
            "code-gen", "clip-l14", "asr-large", "reward", "weather", "t5-xxl"]
HOST_FORMS = ["gpu-{a:03d}", "node{a:04d}", "dgx-{a}", "h100-r{b}-n{a:02d}", "ip-10-{c}-{d}-{e}", "nid{a:06d}",
              "cn-{b}{a:02d}", "a100-{b}-{a}", "compute-{a}", "g{a:04d}", "sv{b}gpu{a:02d}"]
ROOTS = ["/home/{u}/{p}", "/fsx/{u}/{p}", "/workspace/{p}", "/mnt/nfs/{u}/code/{p}", "/lustre/{u}/{p}", "/app", "/data/{u}/{p}"]
SITES = ["/opt/conda/lib/python3.{m}/site-packages", "/home/{u}/miniconda3/envs/pt/lib/python3.{m}/site-packages",
         "/usr/local/lib/python3.{m}/dist-packages", "/opt/venv/lib/python3.{m}/site-packages",
         "/fsx/envs/{p}/lib/python3.{m}/site-packages"]
DATA = ["/data/{p}/shard_{n:05d}.parquet", "/lustre/ds/tokens/chunk_{n:04d}.bin", "/mnt/ds/{p}/train-{n:05d}-of-02048.tar",
        "/datasets/{p}/part-{n:04d}.jsonl.zst", "/fsx/data/{p}/{n:06d}.jpg"]
CKPT = ["/checkpoints/{p}/step_{s}", "/lustre/{u}/ckpt/{p}/iter_{s:07d}", "/local_nvme/{u}/{p}/checkpoint-{s}",
        "/mnt/out/{p}/global_step{s}", "/scratch/{u}/{p}/epoch={e}-step={s}"]
HEX = "0123456789abcdef"


def hexes(rng: Random, length: int) -> str:
    return "".join(rng.choice(HEX) for _ in range(length))


def uuid(rng: Random) -> str:
    return "-".join(hexes(rng, n) for n in (8, 4, 4, 4, 12))


def pids(rng: Random, count: int, first: int) -> list[int]:
    """Ascending pids with small gaps, as a launcher forks them."""
    found = [first]
    while len(found) < count:
        found.append(found[-1] + rng.choice([1, 1, 1, 2, 3]))
    return found


def hosts(rng: Random, count: int) -> list[tuple[str, str]]:
    """(name, ip) of each machine, all of one cluster's naming scheme."""
    form = rng.choice(HOST_FORMS)
    second, third = rng.randrange(1, 90), rng.randrange(1, 9)
    width = max(60, count * 2)
    numbers = sorted(rng.sample(range(3, 3 + width), count))
    return [(form.format(a=n, b=third, c=second, d=third + n // 250, e=n % 250 + 2), f"10.{second}.{third + n // 250}.{n % 250 + 2}") for n in numbers]


def fill(rng: Random, forms: list[str], user: str, project: str, step: int = 0) -> str:
    return rng.choice(forms).format(u=user, p=project, n=rng.randrange(9999), s=step, e=rng.randrange(4), m=rng.choice([9, 10, 11, 12]))
