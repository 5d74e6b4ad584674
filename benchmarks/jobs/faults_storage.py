"""Storage and data: full disks, stale handles, broken checkpoints and samples, a hub that does not answer."""

from __future__ import annotations

from . import aftermath, clock, names, tracebacks
from .fault import ANYWHERE, Fault, blameless, guilty
from .job import Job, Truth
from .watchdog import Wait, pick_wait


def checkpoint(job: Job, rank: int) -> str:
    folder = names.fill(job.rng, names.CKPT, job.user, job.name, job.step)
    return folder + job.rng.choice(["/model.safetensors", f"/mp_rank_{rank:02d}_000/distrib_optim.pt", f"/__{rank}_0.distcp", f"/zero_pp_rank_{rank}_mp_rank_00_optim_states.pt", "/optimizer.pt"])


def disk_full(job: Job, time_s: float) -> Truth:
    rng = job.rng
    rank = rng.choice([0, 0, job.any_rank()])
    path = checkpoint(job, rank)
    job.rank_says(time_s - 3, rank, f"{clock.comma(job.at(rank, time_s - 3))} INFO rank {rank}: saving to {path}")
    forms = [(f"OSError: [Errno 28] No space left on device: '{path}'", "No space left on device"),
             (f"OSError: [Errno 122] Disk quota exceeded: '{path}'", "Disk quota exceeded"),
             ("safetensors_rust.SafetensorError: Error while serializing: IoError(Os { code: 28, kind: StorageFull, message: \"No space left on device\" })", "No space left on device"),
             (f"RuntimeError: [enforce fail at inline_container.cc:{rng.choice([337, 424, 603])}] . unexpected pos {rng.randrange(10**9)} vs {rng.randrange(10**9)}", "unexpected pos")]
    error, evidence = rng.choice(forms)
    if error == forms[0][0] and rng.random() < 0.5:  # the writer's destructor fails as well, and louder
        error = tracebacks.chained(job, error, forms[3][0], "save", direct=False)
    aftermath.rank_raises(job, time_s, rank, error, "save", evidence)
    return guilty(job, "storage.disk-full", f"no room for the checkpoint of rank {rank}", rank, evidence, accept=("storage.io-error",) if evidence == "unexpected pos" else (),
                  remedy="Free space, save elsewhere, keep fewer checkpoints.")


def io_error(job: Job, time_s: float) -> Truth:
    rank, rng = job.any_rank(), job.rng
    path = names.fill(rng, names.DATA, job.user, job.name)
    number, text = rng.choice([(116, "Stale file handle"), (5, "Input/output error"), (30, "Read-only file system"), (13, "Permission denied"), (107, "Transport endpoint is not connected"), (108, "Cannot send after transport endpoint shutdown")])
    kind = "PermissionError" if number == 13 else "OSError"
    error = f"{kind}: [Errno {number}] {text}: '{path}'"
    if rng.random() < 0.4 and number not in {13, 30} and job.layout != "k8s":
        host = job.host_of(rank)
        job.kernel_says(time_s - 20, host, rng.choice(["nfs: server filer02 not responding, timed out", "LustreError: 167-0: scratch-MDT0000-mdc: This client was evicted by scratch-MDT0000; in progress operations using this service will fail.",
                                                      "nfs4_reclaim_open_state: Lock reclaim failed!"]), " ")
    aftermath.rank_raises(job, time_s, rank, error, "dataset" if number != 30 else "save", text)
    return guilty(job, "storage.io-error", f"{text} on the host of rank {rank}", rank, text, path, remedy="Remount or repair that file system; drain the host until then.")


def bad_checkpoint(job: Job, time_s: float) -> Truth:
    rng = job.rng
    path = checkpoint(job, 0)
    n = rng.randrange(1000, 9000)
    forms = ["RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
             "RuntimeError: PytorchStreamReader failed reading file data/12: file read failed",
             "safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer",
             "EOFError: Ran out of input", "_pickle.UnpicklingError: pickle data was truncated", "_pickle.UnpicklingError: invalid load key, 'v'.",
             f"RuntimeError: Error(s) in loading state_dict for Transformer:\n\tsize mismatch for tok_embeddings.weight: copying a param with shape torch.Size([{n}, 4096]) from checkpoint, the shape in current model is torch.Size([{n + 8}, 4096])."]
    error = rng.choice(forms)
    first = error.split("\n")[-1].strip() if "\n" in error else error
    for rank in range(job.world) if job.world <= 32 else [0]:
        job.rank_says(time_s - 1, rank, f"{clock.comma(job.at(rank, time_s - 1))} INFO rank {rank}: loading checkpoint {path}")
    if rng.random() < 0.5:
        aftermath.all_raise(job, time_s, dict.fromkeys(range(job.world), (error, first)), "load")
        return blameless("storage.checkpoint-corrupt", "the checkpoint cannot be read by any rank", first.split(":")[0].split(".")[-1] if "size mismatch" not in first else "size mismatch",
                         remedy="Resume from an older checkpoint.")
    rank = job.any_rank()
    aftermath.rank_raises(job, time_s, rank, error, "load", first)
    return guilty(job, "storage.checkpoint-corrupt", f"the shard of rank {rank} cannot be read", rank, "size mismatch" if "size mismatch" in first else error.split(":")[0].split(".")[-1],
                  remedy="Resume from an older checkpoint.")


def slow_save(job: Job, time_s: float) -> Truth:
    """Rank 0 writes for longer than the others may wait in the barrier behind the save."""
    path = checkpoint(job, 0)
    said = job.rng.choice([f"saving checkpoint to {path}", f"Saving model checkpoint to {path}", f"writing full state dict ({job.rng.randrange(80, 900)} GB) to {path}", f"uploading checkpoint {path} to s3://{job.user}-ckpt/{job.name}"])
    job.rank_says(time_s, 0, f"{clock.comma(job.at(0, time_s))} INFO rank 0: {said}", said.split()[0])
    job.seq += 1
    wait = Wait(job.seq, *job.rng.choice([("ALLREDUCE", 1, 1), ("ALLREDUCE", 1, 1), ("BROADCAST", 4, 4)]))
    if job.rng.random() < 0.4:
        half = time_s + job.timeout_ms / 2000
        job.rank_says(half, 0, f"{clock.comma(job.at(0, half))} INFO rank 0: {job.rng.randrange(20, 60)}% written")
    aftermath.hang(job, time_s + 4, dict.fromkeys(range(1, job.world), wait), dump=job.rng.random() < 0.4)
    truth = guilty(job, "storage.slow-save", "rank 0 saves for longer than the time-out", 0, str(job.timeout_ms), accept=("collective.straggler",), remedy="Raise the time-out, shard or background the save.")
    truth.keep_all = True
    return truth


def bad_sample(job: Job, time_s: float) -> Truth:
    rank, rng = job.any_rank(), job.rng
    path = names.fill(rng, names.DATA, job.user, job.name)
    n = rng.randrange(2, 4000)
    error = rng.choice([
        f"PIL.UnidentifiedImageError: cannot identify image file '{path}'", f"OSError: image file is truncated ({n % 90} bytes not processed)",
        f"json.decoder.JSONDecodeError: Expecting ',' delimiter: line 1 column {n} (char {n - 1})",
        f"RuntimeError: stack expects each tensor to be equal size, but got [{n}] at entry 0 and [{n + 5}] at entry {rng.randrange(1, 8)}",
        "pyarrow.lib.ArrowInvalid: Parquet magic bytes not found in footer. Either the file is corrupted or this is not a parquet file.",
        "tarfile.ReadError: unexpected end of data", "zlib.error: Error -3 while decompressing data: incorrect header check",
        f"data.errors.CorruptShardError: checksum of {path} is wrong: expected {names.hexes(rng, 8)}, got {names.hexes(rng, 8)}",
        f"soundfile.LibsndfileError: Error opening '{path}': Format not recognised."])
    text = tracebacks.worker_error(job, error, "dataset", rng.randrange(8)) if rng.random() < 0.7 else error
    aftermath.rank_raises(job, time_s, rank, text, "loader" if text != error else "dataset", error)
    return guilty(job, "data.bad-sample", f"rank {rank} meets a sample it cannot read", rank, error.split(":")[0].split(".")[-1], accept=("process.exception",), remedy="Repair or skip the sample.")


def hub(job: Job, time_s: float) -> Truth:
    rng = job.rng
    repo = f"{rng.choice(['meta-llama', 'mistralai', 'Qwen', 'acme'])}/{rng.choice(['Llama-3.1-8B', 'Mixtral-8x7B', 'Qwen2.5-14B', 'tok'])}"
    error, evidence = rng.choice([
        (f"OSError: We couldn't connect to 'https://huggingface.co' to load this file, couldn't find it in the cached files and it looks like {repo} is not the path to a directory containing a file named config.json.\nCheckout your internet connection or see how to run the library in offline mode at 'https://huggingface.co/docs/transformers/installation#offline-mode'.", "We couldn't connect"),
        ("huggingface_hub.errors.LocalEntryNotFoundError: Cannot find the requested files in the disk cache and outgoing traffic has been disabled. To enable hf.co look-ups and downloads online, set 'local_files_only' to False.", "outgoing traffic has been disabled"),
        (f"huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://huggingface.co/{repo}/resolve/main/config.json (Request ID: Root=1-{names.hexes(rng, 8)})", "429 Client Error"),
        (f"huggingface_hub.errors.GatedRepoError: 401 Client Error. (Request ID: Root=1-{names.hexes(rng, 8)};{names.uuid(rng)})\n\nCannot access gated repo for url https://huggingface.co/{repo}/resolve/main/config.json.\nAccess to model {repo} is restricted.", "GatedRepoError: 401"),
        (f"OSError: {repo} is not a local folder and is not a valid model identifier listed on 'https://huggingface.co/models'\nIf this is a private repository, make sure to pass a token having permission to this repo", "is not a valid model identifier")])
    aftermath.all_raise(job, time_s, dict.fromkeys(range(job.world), (error, evidence)), "hub", joined=rng.random() < 0.5)
    return blameless("hub.download", "the model cannot be had from the hub", evidence.replace("GatedRepoError: ", ""), remedy="Fill the cache once, then run offline; log in for gated models.")


def uneven(job: Job, time_s: float) -> Truth:
    """One rank has fewer batches: it leaves its epoch and its process, the others wait for it."""
    rank = job.other_rank(0)
    n = job.rng.randrange(200, 9000)
    line = job.rng.choice([f"rank {rank}: epoch finished after {n - job.rng.randrange(1, 4)} batches", f"rank {rank}: data loader exhausted at batch {n - 1} of {n}, leaving",
                           f"rank {rank}: end of its {n - 2} batches, exiting normally"])
    job.rank_says(time_s, rank, f"{clock.comma(job.at(rank, time_s))} INFO {line}", line)
    for other in job.rng.sample([r for r in range(job.world) if r != rank], 3):
        job.rank_says(time_s - 0.4, other, f"{clock.comma(job.at(other, time_s))} INFO rank {other}: batch {n - 2} of {n}")

    wait = pick_wait(job, job.seq + 1)
    aftermath.hang(job, time_s + 1, {other: wait for other in range(job.world) if other != rank}, gone={rank})
    truth = guilty(job, "data.uneven-inputs", f"rank {rank} has fewer batches and leaves with code 0", rank, str(job.timeout_ms),
                   accept=("process.early-exit", "collective.straggler"), remedy="Join, drop_last, or pad the last epoch.")
    truth.keep_all = True
    return truth


FAULTS = [
    Fault("disk-full", disk_full, ANYWHERE), Fault("io-error", io_error), Fault("bad-checkpoint", bad_checkpoint, phase="start"),
    Fault("slow-save", slow_save, ANYWHERE), Fault("bad-sample", bad_sample, ANYWHERE), Fault("hub", hub, phase="start", frameworks=("hf", "ddp", "fsdp")),
    Fault("uneven-inputs", uneven, silent=True),
]
