"""`diagnose.hook` in the form that each framework wants; none of them has to be installed, and none is imported here.

    from diagnose.integrations import lightning_callback, transformers_callback

    Trainer(callbacks=[lightning_callback(output="report.md")])              # Lightning
    Trainer(..., callbacks=[transformers_callback(output="report.md")])      # Transformers, in a notebook too
    with accelerate_run(accelerator, output="report.md"): ...                # Accelerate
    TorchTrainer(ray_train_loop(train, output="report.md"), ...)             # Ray Train: on each worker
    with ray_driver(output="report.md"): ...                                 # Ray: the driver, and this node's logs
    @record(output="report.md")                                              # torchrun: in place of torchelastic's
    def main(): ...
"""

from __future__ import annotations

from .hooks.frameworks import (
    accelerate_run,
    lightning_callback,
    ray_driver,
    ray_session_logs,
    ray_train_loop,
    record,
    transformers_callback,
)

__all__ = [
    "accelerate_run",
    "lightning_callback",
    "ray_driver",
    "ray_session_logs",
    "ray_train_loop",
    "record",
    "transformers_callback",
]
