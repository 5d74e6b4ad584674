"""Python tracebacks as ranks print them: frames of the job's own code and of its framework, with the rank's prefix."""

from __future__ import annotations

from .job import Job

# (path, function, source); {root} and {site} are filled in, line numbers drawn.
MAIN = {
    "ddp": [("{root}/train.py", "<module>", "main()"), ("{root}/train.py", "main", "train_one_epoch(model, loader, opt, sched, args)")],
    "fsdp": [("{root}/train_fsdp.py", "<module>", "main()"), ("{root}/train_fsdp.py", "main", "train_loop(model, loader, opt, sched, args)")],
    "hf": [("{root}/train_sft.py", "<module>", "main()"), ("{root}/train_sft.py", "main", "trainer.train(resume_from_checkpoint=args.resume)"),
           ("{site}/transformers/trainer.py", "train", "return inner_training_loop("),
           ("{site}/transformers/trainer.py", "_inner_training_loop", "tr_loss_step = self.training_step(model, inputs)")],
    "zero3": [("{root}/train_ds.py", "<module>", "main(args)"), ("{root}/train_ds.py", "main", "train(engine, loader, args)")],
    "megatron": [("{root}/pretrain_gpt.py", "<module>", "pretrain("), ("{root}/megatron/training/training.py", "pretrain", "iteration, num_flops = train("),
                 ("{root}/megatron/training/training.py", "train", "train_step(forward_step_func,")],
    "lightning": [("{root}/fit.py", "<module>", "trainer.fit(model, datamodule=dm)"),
                  ("{site}/lightning/pytorch/trainer/trainer.py", "fit", "call._call_and_handle_interrupt("),
                  ("{site}/lightning/pytorch/loops/fit_loop.py", "advance", "self.epoch_loop.run(self._data_fetcher)")],
    "verl": [("{site}/verl/single_controller/ray/base.py", "func", "return getattr(self.worker_dict[key], name)(*args, **kwargs)"),
             ("{site}/verl/workers/fsdp_workers.py", "update_actor", "metrics = self.actor.update_policy(data=data)")],
    "openrlhf": [("{site}/openrlhf/trainer/ray/ppo_actor.py", "fit", "self.ppo_train(global_steps)"),
                 ("{site}/openrlhf/trainer/ppo_trainer.py", "ppo_train", "status = self.training_step(experience)")],
}

INNER = {
    "forward": [("{root}/model/blocks.py", "forward", "h = self.mlp(self.norm2(x))"),
                ("{site}/torch/nn/modules/module.py", "_call_impl", "return forward_call(*args, **kwargs)"),
                ("{site}/torch/nn/modules/linear.py", "forward", "return F.linear(input, self.weight, self.bias)")],
    "backward": [("{root}/trainer/loop.py", "step", "loss.backward()"), ("{site}/torch/_tensor.py", "backward", "torch.autograd.backward("),
                 ("{site}/torch/autograd/__init__.py", "backward", "_engine_run_backward(")],
    "optimizer": [("{site}/torch/optim/optimizer.py", "wrapper", "out = func(*args, **kwargs)"),
                  ("{site}/torch/optim/adamw.py", "step", "has_complex = self._init_group(")],
    "loader": [("{site}/torch/utils/data/dataloader.py", "__next__", "data = self._next_data()"),
               ("{site}/torch/utils/data/dataloader.py", "_next_data", "idx, data = self._get_data()")],
    "collate": [("{site}/torch/utils/data/dataloader.py", "__next__", "data = self._next_data()"),
                ("{site}/torch/utils/data/_utils/fetch.py", "fetch", "return self.collate_fn(data)"),
                ("{root}/data/collator.py", "__call__", "return self.pad(features)")],
    "dataset": [("{site}/torch/utils/data/_utils/fetch.py", "<listcomp>", "data = [self.dataset[idx] for idx in possibly_batched_index]"),
                ("{root}/data/dataset.py", "__getitem__", "return self.decode(self.index[i])")],
    "guard": [("{root}/core/guards.py", "check_finite", "raise error")],
    "save": [("{root}/core/checkpoint.py", "save_checkpoint", "torch.save(state, path)"),
             ("{site}/torch/serialization.py", "save", "with _open_zipfile_writer(f) as opened_zipfile:")],
    "load": [("{root}/core/checkpoint.py", "load_checkpoint", "state = torch.load(path, map_location='cpu')"),
             ("{site}/torch/serialization.py", "load", "with _open_zipfile_reader(opened_file) as opened_zipfile:")],
    "init": [("{root}/core/dist.py", "setup", "dist.init_process_group(backend, timeout=timeout)"),
             ("{site}/torch/distributed/c10d_logger.py", "wrapper", "func_return = func(*args, **kwargs)"),
             ("{site}/torch/distributed/distributed_c10d.py", "init_process_group", "store, rank, world_size = next(rendezvous_iterator)")],
    "collective": [("{site}/torch/distributed/c10d_logger.py", "wrapper", "return func(*args, **kwargs)"),
                   ("{site}/torch/distributed/distributed_c10d.py", "all_reduce", "work = group.allreduce([tensor], opts)")],
    "barrier": [("{site}/torch/distributed/c10d_logger.py", "wrapper", "return func(*args, **kwargs)"),
                ("{site}/torch/distributed/distributed_c10d.py", "barrier", "work.wait()")],
    "config": [("{site}/deepspeed/__init__.py", "initialize", "config_class = DeepSpeedConfig(config, mpu)"),
               ("{site}/deepspeed/runtime/config.py", "_batch_assertion", "assert train_batch == micro_batch * grad_acc * self.world_size, (")],
    "args": [("{root}/core/config.py", "build", "cfg.validate()"), ("{root}/core/config.py", "validate", "raise error")],
    "import": [("{root}/core/imports.py", "<module>", "from .kernels import fused")],
    "hub": [("{site}/transformers/models/auto/auto_factory.py", "from_pretrained", "config, kwargs = AutoConfig.from_pretrained("),
            ("{site}/transformers/utils/hub.py", "cached_file", "resolved_file = hf_hub_download(")],
    "step": [("{root}/trainer/loop.py", "step", "out = self.model(**batch)")],
}


def frames_text(job: Job, where: str, *, main: bool = True) -> str:
    frames = (MAIN[job.framework] if main else []) + INNER[where]
    shown = []
    lines = job.notes.setdefault("lines", {})  # the same code on every rank: the same line numbers
    assert isinstance(lines, dict)
    for path, function, source in frames:
        shown.append(f'  File "{path.format(root=job.root, site=job.site)}", line {lines.setdefault((path, function, source), job.rng.randrange(12, 2400))}, in {function}\n    {source}')
        place = source.find(" = ") + 3
        if place > 2 and ("python3.11" in job.site or "python3.12" in job.site):  # Python >= 3.11 underlines the failing part
            shown.append("    " + " " * place + "^" * (len(source) - place))
    return "\n".join(shown)


def traceback_text(job: Job, error: str, where: str, *, main: bool = True) -> str:
    return f"Traceback (most recent call last):\n{frames_text(job, where, main=main)}\n{error}"


def chained(job: Job, first: str, second: str, where: str, *, direct: bool = True) -> str:
    """Two exceptions, the second raised because of, or while handling, the first."""
    link = "The above exception was the direct cause of the following exception:" if direct else "During handling of the above exception, another exception occurred:"
    return f"{first}\n\n{link}\n\n{traceback_text(job, second, where)}"


def with_rank(job: Job, rank: int, text: str, *, joined: bool = True) -> str:
    """torch >= 2.3 puts the rank before each line of an uncaught exception, once the group exists."""
    if not (joined and job.torch.since(2, 3)):
        return text
    return "\n".join(f"[rank{rank}]: {line}" if line else "" for line in text.split("\n"))


def raise_text(job: Job, time_s: float, rank: int, error: str, where: str, evidence: str = "", *, joined: bool = True) -> None:
    """The rank dies of `error`; `evidence` is the telling part of its message."""
    job.rank_says(time_s, rank, with_rank(job, rank, traceback_text(job, error, where), joined=joined), evidence)


def thread_dies(job: Job, time_s: float, rank: int) -> None:
    """A helper thread of a rank that is being ended: harmless, though it looks like a cause."""
    thread = job.rng.choice(["Thread-3 (_pin_memory_loop)", "QueueFeederThread", "Thread-1 (_monitor)"])
    error = job.rng.choice(["ConnectionResetError: [Errno 104] Connection reset by peer", "EOFError", "BrokenPipeError: [Errno 32] Broken pipe", "ConnectionRefusedError: [Errno 111] Connection refused"])
    python = job.site.rsplit("/", 1)[0]
    job.rank_says(time_s, rank, f'Exception in thread {thread}:\nTraceback (most recent call last):\n  File "{python}/threading.py", line 1016, in _bootstrap_inner\n    self.run()\n  File "{python}/multiprocessing/connection.py", line 383, in _recv\n    chunk = read(handle, remaining)\n{error}')


def worker_error(job: Job, error: str, where: str, worker: int) -> str:
    """An exception of a DataLoader worker as the main process shows it."""
    kind = error.split(":", 1)[0].rsplit(".", maxsplit=1)[-1]
    inner = traceback_text(job, error, where, main=False)
    return f"{kind}: Caught {kind} in DataLoader worker process {worker}.\nOriginal {inner}"
