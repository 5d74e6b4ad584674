"""Message formats of what stands above and below PyTorch; see the package for how to read a line."""

TABLE = r"""
# DeepSpeed
R|config.batch-size-mismatch|AssertionError: Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * gradient_acc_step * world_size 256 != 4 * 8 * 7
R|config.batch-size-mismatch|AssertionError: Train batch size: 0 has to be greater than 0
R|config.batch-size-mismatch|AssertionError: Micro batch size per gpu: 0 has to be greater than 0
R|config.batch-size-mismatch|AssertionError: Gradient accumulation steps: 0 has to be greater than 0
R|config.batch-size-mismatch|AssertionError: Either train_batch_size or train_micro_batch_size_per_gpu needs to be provided
R|config.batch-size-mismatch|AssertionError: DeepSpeedConfig: train_micro_batch_size_per_gpu is not defined
R|config.invalid-argument|AssertionError: DeepSpeedConfig: Maximum supported ZeRO stage is 3
R|config.invalid-argument|AssertionError: Fp16_master_weights_and_grads is only supported with ZeRO Stage 1, 2, or 3.
R|config.batch-size-mismatch|ValueError: Train batch size must be divisible by micro-batch data parallelism
R|config.invalid-argument|ValueError: Conflicting argument 'train_batch_size' in 'config':4 and kwargs:8
+|config.invalid-argument|ValueError: 'config' argument expected string or dictionary, got <class 'int'>
R|config.invalid-argument|pydantic_core._pydantic_core.ValidationError: 1 validation error for DeepSpeedZeroConfig\nstage3_prefetch_bucket_size\n  Input should be a valid integer, unable to parse string as an integer [type=int_parsing, input_value='auto', input_type=str]
R|config.invalid-argument|ValueError: Type fp16 is not supported on your device.
R|config.invalid-argument|ValueError: Hostfile contains multiple entries for gpu-node-07, unable to proceed with launching
+|config.invalid-argument|ValueError: Hostfile is empty or not formatted correctly, unable to proceed with launching.
R|config.world-size-mismatch|ValueError: Hostname 'gpu-node-09' not found in hostfile
+|config.world-size-mismatch|ValueError: No slot '9' specified on host 'gpu-node-07'
+|config.world-size-mismatch|RuntimeError: Unable to proceed, no GPU resources available
R||RuntimeError: launcher 'pdsh' not installed.
R|harmless|Unable to find hostfile, will proceed with training with local resources only.
R|process.exit-code|[2026-11-20 17:04:39,355] [ERROR] [launch.py:325:sigkill_handler] ['/usr/bin/python', '-u', 'train.py', '--local_rank=7'] exits with return code = 1
+|process.sigkill|[2026-11-20 17:04:39,355] [ERROR] [launch.py:325:sigkill_handler] ['/usr/bin/python', '-u', 'train.py', '--local_rank=7'] exits with return code = -9
R|process.terminated|[2026-11-20 17:04:39,355] [INFO] [launch.py:318:main] Main process received SIGTERM, exiting
R|numerics.nan|Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.
R|numerics.nan|rank 3 detected overflow nan in tensor 1:2 shape torch.Size([4, 4])
R|collective.desync|RuntimeError: Detected a disagreement on list length between rank0 and rank3: [1, 2] vs [1]
R|process.exception|AssertionError: The parameter 12 has already been reduced.             Gradient computed twice for this partition.             Multiple gradient reductions are currently not supported
R||RuntimeError: still have inflight params [{'id': 1, 'status': 'AVAILABLE'}]
R|config.world-size-mismatch|deepspeed.runtime.zero.utils.ZeRORuntimeException: The checkpoint being loaded used a DP world size of 16 but the current world size is 8. Automatic adjustment of ZeRO's optimizer state partitioning with a new world size is not currently supported.
R|storage.checkpoint-corrupt|Unable to find latest file at /data/ckpt/latest, if trying to load latest checkpoint please ensure this file exists or pass an explicit checkpoint tag when loading a checkpoint.
R|storage.checkpoint-corrupt|AssertionError: The following zero checkpoints paths are missing: ['/data/ckpt/zero_pp_rank_0_mp_rank_00_optim_states.pt']
R|context|12 pytorch allocator cache flushes since last step. this happens when there is high memory pressure and is detrimental to performance. if this is happening frequently consider adjusting settings to reduce memory consumption.
X|the same words stand in every healthy run on CPU|[2026-11-20 17:04:39,355] [WARNING] [real_accelerator.py:209:get_accelerator] Setting accelerator to CPU. If you have GPU or other accelerator, we were unable to detect it.
R|software.version-incompatible|deepspeed.ops.op_builder.builder.CUDAMismatchException: >- DeepSpeed Op Builder: Installed CUDA version 12.1 does not match the version torch was compiled with 11.8, unable to compile cuda/cpp extensions without a matching cuda version.
+|software.version-incompatible|RuntimeError: Error building extension 'cpu_adam'
+|software.version-incompatible|RuntimeError: Unable to JIT load the fused_adam op due to it not being compatible due to hardware/software issue. None
# Accelerate, Transformers, TRL
R|config.batch-size-mismatch|ValueError: Please correct the following DeepSpeed config values that mismatch TrainingArguments values:\n- ds train_micro_batch_size_per_gpu=4 vs hf per_device_train_batch_size=8\nThe easiest method is to set these DeepSpeed config values to 'auto'.
R|config|ValueError: Please correct the following DeepSpeed config values that mismatch kwargs  values:\n- ds zero_optimization.stage=4 vs arg zero_stage=3
R|config.batch-size-mismatch|ValueError: To use a `DataLoader` in `split_batches` mode, the batch size (10) needs to be a round multiple of the number of processes (8).
R|data.uneven-inputs|RuntimeError: You can't use batches of different size with `dispatch_batches=True` or when using an `IterableDataset`.either pass `dispatch_batches=False` and have each process fetch its own batch  or pass `split_batches=True`. By doing so, the main process will fetch a full batch and slice it into `num_processes` batches for each process.
R|data.uneven-inputs|ValueError: Batch does not contain any data (`{}`). At the end of all iterable data available before expected stop iteration.
R|config.batch-size-mismatch|ValueError: When using DeepSpeed, `accelerate.prepare()` requires you to pass at least one of training or evaluation dataloaders with `batch_size` attribute returning an integer value or alternatively set an integer value in `train_micro_batch_size_per_gpu` in the deepspeed config file
R|config.batch-size-mismatch|ValueError: At least one of the dataloaders passed to `accelerate.prepare()` has `None` as batch size. Please set an integer value in `train_micro_batch_size_per_gpu` in the deepspeed config file
R|config.world-size-mismatch|ValueError: You need to use at least 2 processes to use `--multi_gpu`.
+|config.world-size-mismatch|ValueError: Less than two GPU ids were configured and tried to run on multiple GPUs. Please ensure at least two are specified for `--gpu_ids`, or use `--gpu_ids='all'`.
R|network.port-in-use|ConnectionError: Tried to launch distributed communication on port `29500`, but another process is utilizing it. Please specify a different port (such as using the `--main_process_port` flag or specifying a different `main_process_port` in your config file) and rerun your script.
R|config.invalid-argument|ValueError: Tried to launch on distributed with multinode, but `MASTER_ADDR` env was not set, please try exporting rank 0's hostname as `MASTER_ADDR`
R|nccl.topology|NotImplementedError: Using RTX 4000 series doesn't support faster communication broadband via P2P or IB. Please set `NCCL_P2P_DISABLE="1"` and `NCCL_IB_DISABLE="1" or use `accelerate launch` which will do this automatically.
R|config.invalid-argument|ValueError: You can't train a model that has been loaded with `device_map='auto'` in any distributed mode. Please rerun your script specifying `--num_processes=1` or by launching with `python {{myscript.py}}`.
R|collective.shape-mismatch|accelerate.utils.operations.DistributedOperationException: Cannot apply desired operation due to shape mismatches. All shapes across devices must be valid.\n\nOperation: `accelerate.utils.operations.gather`\nInput shapes:\n  - Process 0: [2, 4]\n  - Process 1: [3, 4]
R|process.exception|accelerate.utils.operations.DistributedOperationException: One or more of the tensors passed to accelerate.utils.operations.gather were not on the cpu while the `Accelerator` is configured for cuda. Please move it to the cuda before calling.
R|memory.cuda-oom|RuntimeError: No executable batch size found, reached zero.
R||subprocess.CalledProcessError: Command '['/usr/bin/python', 'train.py']' returned non-zero exit status 1.
+||subprocess.CalledProcessError: Command '['/usr/bin/python', 'train.py']' died with <Signals.SIGKILL: 9>.
R|config.invalid-argument|ValueError: --load_best_model_at_end requires the save and eval strategy to match, but found\n- Evaluation strategy: IntervalStrategy.STEPS\n- Save strategy: SaveStrategy.EPOCH
+|config.invalid-argument|ValueError: --load_best_model_at_end requires the saving steps to be a round multiple of the evaluation steps, but found 500, which is not a round multiple of 300.
+|config.invalid-argument|ValueError: evaluation strategy steps requires either non-zero --eval_steps or --logging_steps
+|config.invalid-argument|ValueError: --dataloader_prefetch_factor can only be set when data is loaded in a different process, i.e. when --dataloader_num_workers > 0.
R|config.invalid-argument|ValueError: Some specified arguments are not used by the HfArgumentParser: ['--lr_rate', '1e-5']
+|config.invalid-argument|train.py: error: unrecognized arguments: --lr_rate 1e-5
+|config.invalid-argument|train.py: error: argument --lr: invalid float value: 'abc'
R|hub.download|OSError: acme/none is not a local folder and is not a valid model identifier listed on 'https://huggingface.co/models'\nIf this is a private repository, make sure to pass a token having permission to this repo
+|hub.download|OSError: acme/acme-7b does not appear to have a file named config.json. Checkout 'https://huggingface.co/acme/acme-7b/tree/main' for available files.
+|hub.download|OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files.
+|hub.download|OSError: You are trying to access a gated repo.\nMake sure to have access to it at https://huggingface.co/acme/acme-7b.
R|storage.checkpoint-corrupt|RuntimeError: Error(s) in loading state_dict for Net:\n\tsize mismatch for fc.weight: copying a param with shape torch.Size([4, 4]) from checkpoint, the shape in current model is torch.Size([8, 4]).
R|config.batch-size-mismatch|ValueError: The global train batch size (8 x 3) must be evenly divisible by the number of generations per prompt (16). Given the current train batch size, the valid values for the number of generations are: [2, 3, 4].
+|config.batch-size-mismatch|ValueError: The global eval batch size (8 x 3) must be evenly divisible by the number of generations per prompt (16). Given the current eval batch size, the valid values for the number of generations are: [2, 3, 4].
R|config.batch-size-mismatch|ValueError: generation_batch_size (24) must be divisible by the global batch size (16).
+|config.batch-size-mismatch|ValueError: The global eval batch size (8 * 3) must be divisible by the number of generations used for evaluation (16).
+|config.batch-size-mismatch|ValueError: 'generation_batch_size' and 'steps_per_generation' can not be both configured at the same time
R|config.invalid-argument|ValueError: GRPO requires at least 2 generations per prompt to calculate the advantages. You provided 1, which is less than the minimum required.
R|config.world-size-mismatch|ValueError: tensor_parallel_size (3) must divide world size (8) evenly.
+|config.world-size-mismatch|ValueError: vllm_tensor_parallel_size (3) must divide world size (8) evenly.
R|config.batch-size-mismatch|ValueError: `batch_size` must be a multiple of `num_mini_batches`, inexact division: 10 / 4 = 2.5
R|config.batch-size-mismatch|ValueError: Actual (not effective) batch size must be > 1. KTO will not work properly because the KL term will be equivalent to the implied reward.
R|network.connection-refused|ConnectionError: The vLLM server can't be reached at http://10.0.0.7:8000 after 240.0 seconds. Make sure the server is running by running `trl vllm-serve`.
# RLHF stacks and Megatron
R|config.batch-size-mismatch|AssertionError: rollout_bach_size must be divisible by actor_world_size, got 30 and 8
R|config.world-size-mismatch|AssertionError: actor_world_size must be divisible by critic_world_size, got 8 and 3
+|config.world-size-mismatch|AssertionError: actor_world_size must be power of 2, got 6
+|config.world-size-mismatch|AssertionError: actor_world_size must be greater than vllm_num_engines, got 2 and 4
R|config.world-size-mismatch|AssertionError: num_nodes and num_gpus_per_node must be the same when colocate actor and ref model.
R|config|AssertionError: ZeRO-3 is only supported when vLLM enabled
+|config|AssertionError: reward_fn must be specified if using multiple reward models
+|software.version-incompatible|AssertionError: OpenRLHF only supports vLLM >= 0.4.1
+|software.version-incompatible|AssertionError: Only vllm >= 0.7.2 supports hybrid engine
+|software.version-incompatible|AssertionError: Streaming VLLM version must be greater than 0.8.5
R|config.invalid-argument|AssertionError: mismatch dtype: src torch.float16, dst torch.bfloat16
R|software.known-bug|ERROR 06-12 04:11:20 worker_base.py:148] Error executing method start_worker_execution_loop. This might cause deadlock in distributed execution.
R|software.known-bug|(EngineCore_DP0 pid=77) ERROR 03-05 00:25:45 [core.py:1094] Invocation of collective_rpc method failed
R|config.batch-size-mismatch|AssertionError: real_train_batch_size (30) must be divisible by minimal possible batch size (8)
+|config.world-size-mismatch|AssertionError: n_gpus (6) must be divisible by model_parallel_size (4) times context_parallel_size (1)
R|config.batch-size-mismatch|ValueError: [actor_rollout_ref.actor] Please set at least one of 'actor_rollout_ref.actor.ppo_micro_batch_size' or 'actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu'.
+|config.batch-size-mismatch|ValueError: [critic] You have set both 'critic.ppo_micro_batch_size' AND 'critic.ppo_micro_batch_size_per_gpu'. Please remove 'critic.ppo_micro_batch_size' because only '*_ppo_micro_batch_size_per_gpu' is supported (the former is deprecated).
R|config.batch-size-mismatch|AssertionError: ppo_mini_batch_size 0 should be larger than 0 after normalization
+|config.batch-size-mismatch|AssertionError: normalized ppo_mini_batch_size 30 should be divisible by ppo_micro_batch_size_per_gpu 8
+|config.batch-size-mismatch|AssertionError: [critic] ppo_mini_batch_size (30) must be divisible by ppo_micro_batch_size (8)
R|config.batch-size-mismatch|AssertionError: Global batch size 30 is not divisible by dp size 8
+|config.batch-size-mismatch|AssertionError: only support equal chunk. Got size of DataProto 30 and chunk 8.
R||ValueError: Total available GPUs 8 is less than total desired GPUs 16
R|numerics.nan|WARN: rank 3 grad_norm is not finite: nan
R||TimeoutError: Server failed to become healthy within timeout period
+||RuntimeError: Server in http://10.0.0.7:30000 failed to become healthy within timeout period
R|config.invalid-argument|ValueError: Please launch distributed training with `llamafactory-cli` or `torchrun`.
+|config.invalid-argument|ValueError: Please use `FORCE_TORCHRUN=1` to launch DeepSpeed training.
+|config.invalid-argument|ValueError: Please specify `max_steps` in streaming mode.
+|data.bad-sample|RuntimeError: Cannot find sufficient samples, consider increasing dataset size.
+|data.bad-sample|RuntimeError: Cannot find valid samples, check `data/README.md` for the data format.
+|config.world-size-mismatch|ValueError: Total Megatron Bridge parallel size (16) must divide `world_size` (8).
R|config.batch-size-mismatch|AssertionError: global batch size (30) is not divisible by micro batch size (4) times data parallel size (2)
R|config.batch-size-mismatch|AssertionError: current global batch size (30) is not divisible by micro_batch_size (4) * data_parallel_size (2)
+|config.batch-size-mismatch|AssertionError: number of microbatches should be at least 1, got 0.
R|config.world-size-mismatch|AssertionError: world size (6) is not divisible by total_model_size (total_model_size=4)
+|config.world-size-mismatch|AssertionError: world size (6) is not divisible by tensor parallel size (4) times pipeline parallel size (1) times context parallel size (1)
+|config.world-size-mismatch|RuntimeError: world_size (6) is not divisible by 4
+|config.world-size-mismatch|RuntimeError: world_size (6) is not divisible by expert_tensor_model_pipeline_parallel size (4)
R|config|AssertionError: number of layers should be divisible by the pipeline parallel size
+|config|ValueError: num_moe_experts (7) should be divisible by expert_model_parallel_size
R|numerics.nan|AssertionError: Rank 11: found NaN in local grad norm in backward pass before data-parallel communication collective. Device: 3, node: gpu-node-07
R|numerics.nan|RuntimeError: Rank 11, node gpu-node-07, device 3, iteration 1200: Unexpected result nan (message='found NaN in local forward loss calculation')
R|gpu.silent-corruption|Second rerun: unexpected result is not reproducible on a different GPU, therefore was likely incorrect (2.31 != nan)
R|numerics.nan|Second rerun: unexpected result is reproducible on a different GPU, therefore it was likely correct (nan = nan)
R|process.terminated| [2026-11-20 10:00:00] exiting program after receiving SIGTERM.
R|process.terminated|[rank: 3] Received SIGTERM: 15
R|config.world-size-mismatch|lightning.fabric.utilities.exceptions.MisconfigurationException: You requested gpu: [0, 1, 2, 3]\n But your machine only has: [0, 1]
R||lightning.fabric.utilities.exceptions.MisconfigurationException: GPUs requested but none are available.
+||lightning.fabric.utilities.exceptions.MisconfigurationException: No supported gpu backend found!
+||lightning.fabric.utilities.exceptions.MisconfigurationException: `CUDAAccelerator` can not run on your system since the accelerator is not available. The following accelerator(s) is available
R|config.world-size-mismatch|ValueError: You set `devices=8` in Lightning, but the number of tasks per node configured in SLURM `--ntasks-per-node=4` does not match. HINT: Set `devices=4`.
+|config.world-size-mismatch|ValueError: You set `num_nodes=4` in Lightning, but the number of nodes configured in SLURM `--nodes=2` does not match. HINT: Set `num_nodes=2`.
+|config.world-size-mismatch|RuntimeError: You set `--ntasks=8` in your SLURM bash script, but this variable is not supported. HINT: Use `--ntasks-per-node=8` instead.
R||pytorch_lightning.utilities.exceptions.DeadlockDetectedException: DeadLock detected from rank: 1 \n Traceback (most recent call last):
R||[rank: 1] Child process with PID 4242 terminated with code 1. Forcefully terminating all other processes to avoid zombies
R|numerics.nan|Monitored metric val_loss = nan is not finite. Previous best value was 0.31. Signaling Trainer to stop.
+|numerics.nan|ValueError: The loss returned in `training_step` is tensor(nan).
+|process.terminated|Detected KeyboardInterrupt, attempting graceful shutdown ...
R|collective.straggler|[2026-11-20 10:00:00.123456: W horovod/common/stall_inspector.cc:107] One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds. This may indicate that different ranks are trying to submit different tensors or that only subset of ranks is submitting tensors, which will cause deadlock. \nMissing ranks:\n1: [allreduce.grad_1]
R||One or more rank (marked by "!") is stalled for longer than 120 seconds. Will shutdown.
R||horovod.common.exceptions.HorovodInternalError: Horovod has been shut down. This was caused by an exception on one of the ranks or an attempt to allreduce, allgather or broadcast a tensor after one of the ranks finished execution.
R|collective.shape-mismatch|horovod.common.exceptions.HorovodInternalError: Mismatched data types: One rank had type float32, but another rank had type float16.
+|collective|horovod.common.exceptions.HorovodInternalError: Mismatched operations: One rank did an allreduce, but another rank did an allgather.
+|collective.shape-mismatch|horovod.common.exceptions.HorovodInternalError: Mismatched allreduce tensor shapes: One rank sent a tensor of shape [4], but another rank sent a tensor of shape [8].
R||RuntimeError: Horovod detected that one or more processes exited with non-zero status, thus causing the job to be terminated. The first process to do so was:\nProcess name: 1\nExit code: 1
R|process.abort|F1120 10:00:00.123456 4242 client.h:77] Terminating process because the JAX distributed service detected fatal errors. This most likely indicates that another task died; see the other task logs for more details.
R||E1120 10:00:00.123456 4242 coordination_service.cc:1] /job:jax_worker/replica:0/task:3 has been set to ERROR in coordination service: UNAVAILABLE: Task /job:jax_worker/replica:0/task:3 heartbeat timeout. This indicates that the remote task has failed, got preempted, or crashed unexpectedly.
R|rendezvous.timeout|jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: [Init]Wait_for_all_tasks_to_register. This usually happens because a task triggered the barrier too early or too slowly. # of tasks that reached the barrier: 3/4. The first task at the barrier: /job:jax_worker/replica:0/task:0. Some timed out task names:\n/job:jax_worker/replica:0/task:3
# vLLM
R||RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore_DP0': 1}
R||(EngineCore_DP0 pid=77) ERROR 03-05 00:25:45 [core.py:708] EngineCore failed to start.
+||(EngineCore_DP0 pid=77) ERROR 03-05 00:25:45 [core.py:708] EngineCore encountered a fatal error.
R||vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.
R||ERROR 03-05 00:25:45 [async_llm.py:480] AsyncLLM output_handler failed.
R||ERROR 03-05 00:25:45 [core_client.py:562] Engine core proc EngineCore_DP0 died unexpectedly, shutting down client.
R||ERROR 03-05 00:25:45 [multiproc_executor.py:154] Worker proc VllmWorker-1 died unexpectedly, shutting down executor.
R||ERROR 03-05 00:25:45 [multiproc_executor.py:559] WorkerProc hit an exception.
+||ERROR 03-05 00:25:45 [multiproc_executor.py:559] WorkerProc failed to start.
R||RuntimeError: Worker failed with error 'CUDA out of memory', please check the stack trace above for the root cause
R|collective.straggler|TimeoutError: RPC call to execute_model timed out.
R|memory.cuda-oom|ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.
R||ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is needed, which is larger than the available KV cache memory (8.20 GiB). Based on the available memory, the estimated maximum model length is 67120. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.
+||ValueError: The model's max seq len (131072) is larger than the maximum number of tokens that can be stored in KV cache (60000). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.
R|memory.cuda-oom|ValueError: Free memory on device (12.10/79.15 GiB) on startup is less than desired GPU memory utilization (0.9, 71.24 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.
R|memory.cuda-oom|AssertionError: Error in memory profiling. Initial free memory 40.1 GiB, current free memory 60.2 GiB. This happens when other processes sharing the same container release GPU memory while vLLM is profiling during initialization.
R|config.world-size-mismatch|ValueError: The number of required GPUs exceeds the total number of available GPUs in the placement group.
+|ray.unschedulable|ValueError: Current node has no GPU available. current_node_resource={'CPU': 8.0}. vLLM engine cannot start without GPU. Make sure you have at least 1 GPU available in a node
+|ray.unschedulable|ValueError: Cannot provide a placement group of placement_group_specs=[{'GPU': 1.0}] within 1800 seconds. See `ray status` and `ray list nodes` to make sure the cluster has enough resources.
R||ValueError: The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.
# Ray
R||ray.exceptions.RayTaskError(ValueError): ray::Trainer.step() (pid=4242, ip=10.0.0.7, actor_id=4f3a9c1d, repr=<train.Trainer object at 0x7f00>)\nValueError: bad thing
R||ray.exceptions.ActorDiedError: The actor died because of an error raised in its creation task, ray::Trainer.__init__() (pid=4242, ip=10.0.0.7, actor_id=4f3a9c1d, repr=<train.Trainer object at 0x7f00>)\nValueError: bad thing
R|ray.actor-died|ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n\tclass_name: Trainer\n\tactor_id: 4f3a9c1d\n\tpid: 4242\n\tnamespace: x\n\tip: 10.0.0.7\nThe actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2. End of file.
+|ray.actor-died|ray.exceptions.RayActorError: The actor died unexpectedly before finishing this task.
R|ray.node-died|The actor died because its node has died. Node Id: 4f3a9c1d\n\tthe actor's node was terminated unexpectedly: health check failed
R|ray.actor-died|ray.exceptions.ActorUnavailableError: The actor 4f3a9c1d is unavailable: RpcError: RPC Error message: failed to connect. The task may or may not have been executed on the actor.
R|ray.actor-died|ray.exceptions.WorkerCrashedError: The worker died unexpectedly while executing this task. Check python-core-worker-*.log files for more information.
R|process.segfault|(Trainer pid=4242) *** SIGSEGV received at time=1763632800 on cpu 1 ***
+|process.segfault|(Trainer pid=4242) Fatal Python error: Segmentation fault
R|memory.ray-oom|ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on the node (IP: 10.0.0.7, ID: 4f3a9c1d) where the task (task ID: 4f3a9c1d, name=step, pid=4242, memory used=41.2GB) was running was 121.6GB / 128.0GB (0.95), which exceeds the memory usage threshold of 0.95. Ray killed this worker (ID: 4f3a9c1d) because it was the most recently scheduled task
R|memory.ray-oom|1 worker(s) were killed due to the node running low on memory. Memory on the node (IP: 10.0.0.7, ID: 4f3a9c1d) was 121.60GB used / 128.00GB limit (0.950000)
R|memory.ray-oom|(raylet) [2026-11-20 17:14:55,183 E 1829 1846] (raylet) node_manager.cc:3065: 2 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: 4f3a9c1d, IP: 10.0.0.7) over the last time period.
R|ray.node-died|The node with node id: 4f3a9c1d and address: 10.0.0.7 and node name: 10.0.0.7 has been marked dead because the detector has missed too many heartbeats from it.
R|ray.node-died|[2026-11-20 17:14:55,183 C 1829 1846] (raylet) node_manager.cc:1064: [Timeout] Exiting because this node manager has mistakenly been marked as dead by the GCS: GCS failed to check the health of this node for 5 times. This is likely because the machine or raylet has become overloaded.
R|ray.node-died|ray.exceptions.LocalRayletDiedError: The task's local raylet died. Check raylet.out for more information.
R|ray.node-died|[2026-11-20 17:14:55,183 E 1829 1846] gcs_client.cc:1: Failed to connect to GCS within 60 seconds. GCS may have been killed. It's either GCS is terminated by `ray stop` or is killed unexpectedly.
R|ray.object-store|ray.exceptions.ObjectLostError: Failed to retrieve object 4f3a9c1d. To see information about where this ObjectRef was created in Python, set the environment variable RAY_record_ref_creation_sites=1\n\nAll copies of 4f3a9c1d have been lost due to node failure. Check cluster logs
+||ray.exceptions.OwnerDiedError: Failed to retrieve object 4f3a9c1d. The object's owner has exited.
+|ray.object-store|ray.exceptions.ObjectFetchTimedOutError: Failed to retrieve object 4f3a9c1d.
R|ray.object-store|ray.exceptions.ObjectStoreFullError: Failed to put object 4f3a9c1d in object store because it is full. Object size is 104857600 bytes.\nThe local object store is full of objects that are still in scope and cannot be evicted.
R|storage.disk-full|ray.exceptions.OutOfDiskError: Local disk is full\nThe object cannot be created because the local object store is full and the local disk's utilization is over capacity (95% by default).
R||ray.exceptions.RuntimeEnvSetupError: Failed to set up runtime environment.\nFailed to install pip packages
R|ray.unschedulable|(autoscaler +1m2s) Error: No available node types can fulfill resource request {'GPU': 4.0}. Add suitable node types to this cluster to resolve this issue.
R|ray.unschedulable|(autoscaler +1m2s) Warning: The following resource request cannot be scheduled right now: {'GPU': 4.0}. This is likely due to all cluster resources being claimed by actors. Consider creating fewer actors or adding more nodes to this Ray cluster.
R|ray.unschedulable|(raylet) [2026-11-20 17:14:55,183 W 1829 1846] (raylet) cluster_lease_manager.cc:1: The actor with ID 4f3a9c1d cannot be scheduled right now. It requires {GPU: 4, CPU: 1} for placement, however the cluster currently cannot provide the requested resources.
+|ray.unschedulable|(raylet) [2026-11-20 17:14:55,183 W 1829 1846] (raylet) cluster_task_manager.cc:1: The task with ID 4f3a9c1d cannot be scheduled right now. It requires {GPU: 4, CPU: 1} for placement, however the cluster currently cannot provide the requested resources.
R|ray.unschedulable|ray.exceptions.TaskUnschedulableError: The task is not schedulable: Tasks or actors with resource shapes {GPU: 4} failed to schedule because there are not enough resources for the tasks or actors on the whole cluster.
R||[2026-11-20 17:14:55,183 C 1829 1846] core_worker.cc:1:  An unexpected system state has occurred. You have likely discovered a bug in Ray. Please report this issue at https://github.com/ray-project/ray/issues and we'll work with you to fix it. Check failed: x
# Slurm
R|process.time-limit|slurmstepd: error: *** STEP 123.0 ON gpu-node-07 CANCELLED AT 2026-11-20T10:00:00 DUE TO TIME LIMIT ***
R|process.preempted|slurmstepd: error: *** JOB 123 ON gpu-node-07 CANCELLED AT 2026-11-20T10:00:00 DUE TO PREEMPTION ***
R|process.node-failure|slurmstepd: error: *** JOB 123 ON gpu-node-07 CANCELLED AT 2026-11-20T10:00:00 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***
R|process.preempted|slurmstepd: error: *** JOB 123 ON gpu-node-07 CANCELLED AT 2026-11-20T10:00:00 DUE TO JOB REQUEUE ***
R|process.terminated|slurmstepd: error: *** STEP 123.0 ON gpu-node-07 CANCELLED AT 2026-11-20T10:00:00 ***
R|process.terminated|slurmstepd: error: *** STEP 123.0 ON gpu-node-07 CANCELLED AT 2026-11-20T10:00:00 DUE to SIGNAL Terminated ***
R||slurmstepd: error: *** STEP 123.0 ON gpu-node-07 CANCELLED AT 2026-11-20T10:00:00 DUE TO TASK FAILURE ***
R|memory.host-oom|slurmstepd: error: Detected 1 oom-kill event(s) in StepId=123.0 cgroup. Some of your processes may have been killed by the cgroup out-of-memory handler.
R|memory.host-oom|slurmstepd: error: Detected 3 oom_kill events in StepId=123.0. Some of the step tasks have been OOM Killed.
R|memory.host-oom|srun: error: gpu-node-07: tasks 0-3: Out Of Memory
R|memory.host-oom|slurmstepd: error: StepId=123.0 exceeded memory limit (1050000 > 1048576), being killed
+|memory.host-oom|slurmstepd: error: Exceeded job memory limit
R|process.exit-code|srun: error: gpu-node-07: task 3: Exited with exit code 1
R|process.segfault|srun: error: gpu-node-07: task 3: Segmentation fault (core dumped)
+|process.abort|srun: error: gpu-node-07: task 3: Aborted (core dumped)
+|process.sigkill|srun: error: gpu-node-07: tasks 0-3: Killed
+|process.bus-error|srun: error: gpu-node-07: task 3: Bus error (core dumped)
R||srun: Job step aborted: Waiting up to 32 seconds for job step to finish.
R|process.node-failure|srun: error: Node failure on gpu-node-07
R|process.node-failure|srun: error: Aborting, step missing and io error on node 3
+|process.node-failure|srun: error: Aborting, can not test connection to node 3.
R||srun: error: Task launch for StepId=123.0 failed on node gpu-node-07: Communication connection failure
+||srun: error: Application launch failed: Socket timed out on send/recv operation
R|config.world-size-mismatch|srun: error: Unable to create step for job 123: More processors requested than permitted
+|config.world-size-mismatch|srun: error: Unable to create step for job 123: Requested node configuration is not available
R||sbatch: error: Batch job submission failed: Requested node configuration is not available
+||srun: error: Unable to allocate resources: Invalid account or account/partition combination specified
R||123_0  OUT_OF_MEMORY  0:125
R|process.node-failure|[2026-11-20T10:00:00.123] error: Nodes gpu-node-07 not responding, setting DOWN
+|process.time-limit|[2026-11-20T10:00:00.123] Time limit exhausted for JobId=123
R||slurmstepd: error: execve(): /opt/train.sh: No such file or directory
+||slurmstepd: error: couldn't chdir to `/home/u/job': No such file or directory: going to /tmp instead
R||slurmstepd: error: pyxis: container start failed with error code: 1
+||slurmstepd: error: pyxis: failed to import docker image
R||slurmstepd: error:  mpi/pmix_v4: pmixp_coll_ring_neighbor: gpu-node-07 [0]: PMIXP_ERR timeout
R||slurmstepd: error: *** JOB 123 STEPD TERMINATED ON gpu-node-07 AT 2026-11-20T10:00:00 DUE TO JOB NOT ENDING WITH SIGNALS ***
# Kubernetes and containers
R|memory.host-oom|    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137
+|memory.host-oom|{"reason":"OOMKilled","exitCode":137}
R|process.sigkill|      Reason:       Error\n      Exit Code:    137
R|memory.host-oom|Warning  Evicted  kubelet  The node was low on resource: memory. Threshold quantity: 100Mi, available: 87Mi. Container main was using 120Gi, request is 100Gi, has larger consumption of memory.
+|storage.disk-full|Warning  Evicted  kubelet  The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 8Gi. Container main was using 120Gi, request is 0, has larger consumption of ephemeral-storage.
R|storage.disk-full|Container main exceeded its local ephemeral storage limit "10Gi".
+|storage.disk-full|Pod ephemeral local storage usage exceeds the total limit of containers 10Gi.
+||Usage of EmptyDir volume "dshm" exceeds the limit "10Gi".
R|process.time-limit|Pod was active on the node longer than the specified deadline
+|process.time-limit|Job was active longer than specified deadline
R|process.not-scheduled|Warning  FailedScheduling  default-scheduler  0/12 nodes are available: 8 Insufficient nvidia.com/gpu, 4 node(s) had untolerated taint {gpu: true}. preemption: 0/12 nodes are available: 12 No preemption victims found for incoming pod.
R|process.preempted|  Normal   Preempted   3m    default-scheduler   Preempted by pod 4f3a9c1d-0000-4000-8000-000000000000 on node gpu-node-07
+|process.preempted|PreemptionByScheduler: default-scheduler: preempting to accommodate a higher priority pod
R||DeletionByTaintManager: Taint manager: deleting due to NoExecute taint
+||Normal  TaintManagerEviction  taint-eviction-controller  Marking for deletion Pod default/llm-worker-0
R|process.node-failure|  Warning  NodeNotReady  3m  node-controller  Node is not ready
+|process.node-failure|Kubelet stopped posting node status.
R|process.terminated|Normal  Killing  kubelet  Container main failed liveness probe, will be restarted
R||Warning  BackOff  kubelet  Back-off restarting failed container main in pod llm-worker-0_default(4f3a9c1d)
R|process.not-started|Warning  Failed  kubelet  Failed to pull image "nvcr.io/acme/train:1.2": rpc error: code = NotFound
+|process.not-started|Warning  FailedMount  kubelet  MountVolume.SetUp failed for volume "data" : mount failed: exit status 32
+|process.not-started|Warning  FailedCreatePodSandBox  kubelet  Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network
R|gpu|Warning  UnexpectedAdmissionError  kubelet  Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected
R|gpu.driver-mismatch|nvidia-container-cli: initialization error: nvml error: driver/library version mismatch: unknown
+|gpu.driver-mismatch|nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown
+|gpu|nvidia-container-cli: device error: GPU-4f3a9c1d: unknown device: unknown
R|process.exit-code|  Normal  ExitedWithCode  3m  pytorchjob-controller  Pod: default.llm-worker-0 exited with code 1
R||PyTorchJob llm is failed because 1 Worker replica(s) failed.
+||PyTorchJob llm is restarting because 1 Master replica(s) failed.
R|process.time-limit|Job llm has failed because it was active longer than specified deadline
+||Job llm has failed because it has reached the specified backoff limit
R||Warning  FailedCreatePod  pytorchjob-controller  Error creating: pods "llm-worker-0" is forbidden: exceeded quota: gpu, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=64, limited: requests.nvidia.com/gpu=64
R|process.not-scheduled|0/4 tasks in gang unschedulable: pod group is not ready, 4 Pending, 4 minAvailable; Pending: 4 Unschedulable
R|process.preempted|24s   Warning   Evict   pod/llm-worker-3   Pod is evicted, because of preempt
R||docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].
# driver
R|gpu.off-bus|NVRM: GPU 0000:9b:00.0: GPU has fallen off the bus.
+|gpu.off-bus|NVRM: The NVIDIA GPU 0000:9b:00.0\nNVRM: (PCI ID: 10de:2330) installed in this system has\nNVRM: fallen off the bus and is not responding to commands.
R|gpu.driver-mismatch|NVRM: API mismatch: the client 'python' (pid 4242)\nNVRM: has the version 550.54.15, but this kernel module has\nNVRM: the version 535.129.03.
+|gpu.driver-mismatch|Failed to initialize NVML: Driver/library version mismatch
R|gpu|NVRM: GPU 0000:9b:00.0: RmInitAdapter failed! (0x62:0x65:1893)
+|gpu|NVRM: rm_init_adapter failed, device minor number 3
R|gpu|Unable to determine the device handle for GPU0: 0000:9B:00.0: Unknown Error
+|gpu|NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.
R|gpu.nvlink|NVRM: knvlinkUpdatePostRxDetectLinkMask_IMPL: Failed to update Rx Detect Link mask!
+|gpu.nvlink|NVRM: knvlinkDiscoverPostRxDetLinks_GH100: Getting peer3's postRxDetLinkMask failed!
R|gpu.nvlink|failed to find the GPU handle 3 in the multicast team request setup 5.
+|gpu.nvlink|detected number of NVSwitches don't match with any supported system topology, aborting fabric manager
R|gpu.ecc|NVRM: Xid (PCI:0000:9b:00): 48, pid=4242, name=python, An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at physAddr 0x1f partition 3, subpartition 0.
R|gpu.illegal-access|NVRM: Xid (PCI:0000:9b:00): 31, pid=4242, name=python, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f_00000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ
R|gpu.off-bus|NVRM: Xid (PCI:0000:9b:00): 79, pid=4242, name=python, GPU has fallen off the bus.
R|gpu.gsp|NVRM: Xid (PCI:0000:9b:00): 119, pid=4242, name=python, Timeout after 6s of waiting for RPC response from GPU3 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20 0x0).
R|gpu.nvlink|NVRM: Xid (PCI:0000:9b:00): 74, pid=4242, name=python, NVLink: fatal error detected on link 3(0x10000, 0x0, 0x0)
+|gpu.nvlink|NVRM: Xid (PCI:0000:9b:00): 145, RLW Fatal XC0 i0 Link 03 (0x1 0x2 0x0 0x0 0x0 0x0)
R|gpu.nvlink|nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 22003, Fatal, Link 05 Always fatal (First)
# kernel
R|memory.host-oom|oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=job_123,mems_allowed=0-1,oom_memcg=/slurm/uid_1000/job_123,task_memcg=/slurm/uid_1000/job_123/step_0,task=python,pid=4242,uid=1000
R|memory.host-oom|Memory cgroup out of memory: Killed process 4242 (python) total-vm:120000kB, anon-rss:100000kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:400kB oom_score_adj:0
+|memory.host-oom|Out of memory: Kill process 4242 (python) score 900 or sacrifice child
R|memory.host-oom|Nov 20 10:00:00 gpu-node-07 systemd-oomd[812]: Killed /user.slice/user-1000.slice due to memory pressure for /user.slice being 85.1% > 80.0% for > 20s with reclaim activity
+|memory.host-oom|Nov 20 10:00:00 gpu-node-07 earlyoom[812]: sending SIGTERM to process 4242 uid 1000 "python": badness 900, VmRSS 100000 MiB
R||INFO: task python:4242 blocked for more than 120 seconds.
R||watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [python:4242]
+||NMI watchdog: Watchdog detected hard LOCKUP on cpu 3
R|process.node-failure|Kernel panic - not syncing: Fatal exception
+|process.node-failure|BUG: unable to handle page fault for address: ffffffffc0a8
R|process.segfault|python[4242]: segfault at 0 ip 00007f3a9c1d sp 00007ffd3a9c error 4 in libtorch_cuda.so[7f3a9c000000+1000]
+|process.segfault|traps: python[4242] general protection fault ip:7f3a9c1d sp:7ffd3a9c error:0 in libc.so.6[7f3a9c000000+1000]
R|process.node-failure|MCE: Killing python:4242 due to hardware memory corruption fault at 7f3a9c1d
R|process.node-failure|EDAC MC0: 1 UE memory read error on CPU_SrcID#0_Ha#0_Chan#0_DIMM#1 (channel:0 slot:1 page:0x1f offset:0x0 grain:32)
R|process.node-failure|{1}[Hardware Error]: event severity: fatal
R|gpu.off-bus|pcieport 0000:9a:01.0: AER: Uncorrectable (Fatal) error message received from 0000:9b:00.0
+||nvidia 0000:9b:00.0: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Transaction Layer, (Requester ID)
R|gpu.off-bus|pcieport 0000:9a:01.0: pciehp: Slot(3): Link Down
+|gpu.off-bus|nvidia 0000:9b:00.0: Unable to change power state from D3hot to D0, device inaccessible
R|nccl.ib-error|mlx5_core 0000:9b:00.0: Port module event[error]: module 0, Cable error, Bus stuck(I2C or data shorted)
+|nccl.ib-error|mlx5_core 0000:9b:00.0: Port module event: module 0, Cable unplugged
R|nccl.ib-error|mlx5_core 0000:9b:00.0 ens1np0: Link down
+||bond0: (slave ens1np0): link status definitely down, disabling slave
R|nccl.ib-error|mlx5_core 0000:9b:00.0: poll_health:960:(pid 0): device's health compromised - reached miss count
+|nccl.ib-error|mlx5_core 0000:9b:00.0: Fatal error 1 detected
R|nccl.ib-error|mlx5_core 0000:9b:00.0: wait_func:1100:(pid 4242): CREATE_QP(0x500) timeout. Will cause a leak of a command resource
+||infiniband mlx5_3: dump_cqe:272:(pid 4242): dump error cqe
R|storage.io-error|nvme nvme0: I/O 12 QID 3 timeout, aborting
+|storage.io-error|nvme nvme0: controller is down; will reset: CSTS=0xffffffff
+|storage.io-error|blk_update_request: I/O error, dev nvme0n1, sector 1234 op 0x1:(WRITE) flags 0x0
+|storage.io-error|I/O error, dev nvme0n1, sector 1234 op 0x0:(READ) flags 0x0
+|storage.io-error|md/raid0: Disk failure on nvme0n1 detected, failing array.
R|storage.io-error|EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: comm python: reading directory lblock 0
+|storage.io-error|XFS (sda1): Metadata I/O Error in "xfs_trans_read_buf" at daddr 0x10 len 8 error 5
+|storage.io-error|XFS (sda1): Corruption detected. Unmount and run xfs_repair
+|storage.io-error|BTRFS error (device sda1): bdev /dev/sda1 errs: wr 0, rd 1
R|storage|nfs: server nas1 not responding, still trying
+|storage|nfs: server nas1 not responding, timed out
R|storage.io-error|LustreError: 167-0: lustre-OST0001-osc: This client was evicted by lustre-OST0001; in progress operations using this service will fail.
+|storage|Lustre: lustre-OST0001-osc: Connection to lustre-OST0001 (at 10.0.0.9@o2ib) was lost; in progress operations using this service will wait for recovery to complete
R|storage.io-error|Nov 20 10:00:00 gpu-node-07 mmfs: [E] File System fs1 unmounted by the system with return code 217 reason code 0
+|storage.io-error|libceph: osd3 down
R|process.resource-limit|cgroup: fork rejected by pids controller in /docker/4f3a9c1d
+|process.resource-limit|bash: fork: retry: Resource temporarily unavailable
R|network|nf_conntrack: table full, dropping packet
+|network|neighbour: arp_cache: neighbor table overflow!
# Python and C runtime
R||Exception in thread pt_data_pin:\nTraceback (most recent call last):\n  File "/app/x.py", line 3, in run\n    f()\nValueError: bad thing
R||concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly while the future was running or pending.
R||torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 3 terminated with the following error:\nTraceback (most recent call last):\nValueError: bad thing
R|process.segfault|torch.multiprocessing.spawn.ProcessExitedException: process 3 terminated with signal SIGSEGV
+|process.exit-code|torch.multiprocessing.spawn.ProcessExitedException: process 3 terminated with exit code 1
R||W1120 16:56:44.337000 23824 torch/multiprocessing/spawn.py:165] Terminating process 4242 via signal SIGTERM
R|data.bad-sample|UnidentifiedImageError: Caught UnidentifiedImageError in DataLoader worker process 1.\nOriginal Traceback (most recent call last):\n  File "/app/x.py", line 3, in run\nPIL.UnidentifiedImageError: cannot identify image file '/data/x.jpg'
R|data.worker-died|RuntimeError: DataLoader worker (pid 4242) is killed by signal: Terminated.
+||RuntimeError: DataLoader worker (pid 4242) is killed by signal: Killed.
+||RuntimeError: DataLoader worker (pid 4242) is killed by signal: Segmentation fault.
R|memory.shm-full|RuntimeError: DataLoader worker (pid 4242) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.
+|memory.shm-full|ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).
R|data.worker-died|RuntimeError: DataLoader worker (pid 4242) exited unexpectedly with exit code 1. Details are lost due to multiprocessing. Rerunning with num_workers=0 may give better error trace.
R|data.worker-died|RuntimeError: DataLoader worker (pid(s) 4242, 4243) exited unexpectedly
R||RuntimeError: DataLoader timed out after 60 seconds
+||RuntimeError: Pin memory thread exited unexpectedly
R|data.bad-sample|RuntimeError: stack expects each tensor to be equal size, but got [3, 224, 224] at entry 0 and [1, 224, 224] at entry 3
+|data.bad-sample|TypeError: default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found <class 'NoneType'>
+|data.bad-sample|RuntimeError: each element in list of batch should be of equal size
R|memory.shm-full|RuntimeError: unable to write to file </torch_4242_1>: No space left on device (28)
+|process.resource-limit|RuntimeError: unable to open shared memory object </torch_4242_1> in read-write mode: Too many open files (24)
+|process.resource-limit|RuntimeError: received 0 items of ancdata
+|process.resource-limit|OSError: [Errno 24] Too many open files
R|storage.disk-full|OSError: [Errno 28] No space left on device: '/data/ckpt/step_5.pt'
+|storage.disk-full|OSError: [Errno 122] Disk quota exceeded: '/data/ckpt/step_5.pt'
+|storage.io-error|OSError: [Errno 5] Input/output error: '/data/ckpt/step_5.pt'
+|storage.io-error|OSError: [Errno 116] Stale file handle: '/data/ckpt/step_5.pt'
+|storage.io-error|OSError: [Errno 30] Read-only file system: '/data/ckpt/step_5.pt'
+|storage.io-error|PermissionError: [Errno 13] Permission denied: '/data/ckpt/step_5.pt'
+|storage.io-error|OSError: [Errno 107] Transport endpoint is not connected: '/data/ckpt'
+|storage.io-error|OSError: [Errno 108] Cannot send after transport endpoint shutdown: '/data/ckpt'
+|memory.host-alloc|OSError: [Errno 12] Cannot allocate memory
+||FileNotFoundError: [Errno 2] No such file or directory: '/data/train.jsonl'
R|storage.checkpoint-corrupt|EOFError: Ran out of input
+||BrokenPipeError: [Errno 32] Broken pipe
R|process.resource-limit|BlockingIOError: [Errno 11] Resource temporarily unavailable
+|process.resource-limit|OpenBLAS blas_thread_init: pthread_create failed for thread 3 of 64: Resource temporarily unavailable
+|process.resource-limit|RuntimeError: can't start new thread
+|process.resource-limit|libgomp: Thread creation failed: Resource temporarily unavailable
R|memory.host-alloc|numpy._core._exceptions._ArrayMemoryError: Unable to allocate 12.3 GiB for an array with shape (4, 4) and data type float32
+|memory.host-alloc|RuntimeError: [enforce fail at alloc_cpu.cpp:114] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 123456 bytes. Error code 12 (Cannot allocate memory)
R|software.import-error|ModuleNotFoundError: No module named 'apex'
+|software.import-error|ImportError: /opt/x.so: undefined symbol: _ZN3c10
+|software.import-error|ImportError: libcudart.so.11.0: cannot open shared object file: No such file or directory
+||ImportError: cannot import name 'x' from 'transformers' (/opt/transformers/__init__.py)
+||ImportError: /lib/libc.so.6: version `GLIBC_2.32' not found (required by /opt/x.so)
+|software|RuntimeError: Failed to import transformers.models.llama because of the following error (look up to see its traceback):\nNo module named 'flash_attn'
+|software.version-incompatible|ValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header, got 88 from PyObject
R|gpu.driver-mismatch|AssertionError: Torch not compiled with CUDA enabled
R|process|SystemExit: 1
R|process.terminated|KeyboardInterrupt
X|the traceback printed below it has a rule; the line alone proves nothing of a rank|Task exception was never retrieved\nfuture: <Task finished name='Task-7' coro=<run()> exception=ValueError('bad')>
R|config.invalid-argument|pydantic_core._pydantic_core.ValidationError: 1 validation error for TrainConfig\nlr\n  Input should be a valid number [type=float_type, input_value='x', input_type=str]
+|config.invalid-argument|omegaconf.errors.ConfigKeyError: Key 'lr_rate' not in 'TrainConfig'
+|config.invalid-argument|omegaconf.errors.MissingMandatoryValue: Missing mandatory value: model.path
+|config.invalid-argument|hydra.errors.OverrideParseException: mismatched input
+|config.invalid-argument|Could not override 'trainer.lr'.
+|config.invalid-argument|yaml.scanner.ScannerError: mapping values are not allowed here
+||json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
R|process.segfault|Fatal Python error: Segmentation fault
+|process.abort|Fatal Python error: Aborted
R|process.abort|free(): invalid pointer
+|process.abort|malloc(): corrupted top size
+|process.abort|*** stack smashing detected ***: terminated
+|process.abort|python: x.cpp:12: void f(): Assertion `a == b' failed.
+|process.abort|terminate called without an active exception
R|process.segfault|[gpu-node-07:4242] *** Process received signal ***\n[gpu-node-07:4242] Signal: Segmentation fault (11)
+|process.segfault|[gpu-node-07:4242:0:4242] Caught signal 11 (Segmentation fault: address not mapped to object at address (nil))
R||==4242==ERROR: AddressSanitizer: heap-use-after-free on address 0x60200000eff0 at pc 0x55d7 bp 0x7ffd sp 0x7ffd
R||train.sh: line 12:  4242 Killed                  python train.py
+||train.sh: line 12:  4242 Segmentation fault      (core dumped) python train.py
# checkpoints, hub, trackers, stores
R|storage.checkpoint-corrupt|safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge
+|storage.checkpoint-corrupt|safetensors._safetensors_rust.SafetensorError: Error while deserializing header: incomplete metadata, file not fully covered
R|storage.checkpoint-corrupt|OSError: Unable to load weights from pytorch checkpoint file for '/m/pytorch_model.bin' at '/m/pytorch_model.bin'. If you tried to load a PyTorch model from a TF 2.0 checkpoint, please set from_tf=True.
+|software.missing-tool|OSError: You seem to have cloned a repository without having git-lfs installed. Please install git-lfs and run `git lfs install` followed by `git lfs pull` in the folder you cloned.
R|storage.checkpoint-corrupt|RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory
+|storage.checkpoint-corrupt|RuntimeError: PytorchStreamReader failed reading file data/0: file read failed
+|storage.checkpoint-corrupt|RuntimeError: PytorchStreamReader failed locating file data.pkl: file not found
R|storage.disk-full|RuntimeError: [enforce fail at inline_container.cc:764] . PytorchStreamWriter failed writing file data/4: file write failed
R|software.version-incompatible|_pickle.UnpicklingError: Weights only load failed. In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to `True`.\nWeightsUnpickler error: Unsupported global: GLOBAL numpy._core.multiarray._reconstruct was not an allowed global by default.
+|storage.checkpoint-corrupt|_pickle.UnpicklingError: Weights only load failed. In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to `True`.\nWeightsUnpickler error: Unsupported operand 60
R|storage.checkpoint-corrupt|_pickle.UnpicklingError: invalid load key, 'v'.
+|storage.checkpoint-corrupt|_pickle.UnpicklingError: pickle data was truncated
+|storage.checkpoint-corrupt|RuntimeError: Invalid magic number; corrupt file?
+|storage.checkpoint-corrupt|RuntimeError: storage has wrong byte size: expected 4 got 8
+|storage.checkpoint-corrupt|zipfile.BadZipFile: File is not a zip file
R|storage.checkpoint-corrupt|torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([3])\nTraceback (most recent call last): (RANK 3)\nRuntimeError: Missing key in checkpoint state_dict: model.x.
+|storage.checkpoint-corrupt|FileNotFoundError: [Errno 2] No such file or directory: '/data/ckpt/step_5/.metadata'
R||num_layers value from checkpoint (24) is not equal to the input argument value (32).
+||ERROR: Invalid metadata file /data/ckpt/latest_checkpointed_iteration.txt. Exiting
R|hub.download|OSError: Consistency check failed: file should be of size 4096 but has size 1024 (model.safetensors).\nThis is usually due to network issues while downloading the file. Please retry with `force_download=True`.
R|hub.download|huggingface_hub.errors.RepositoryNotFoundError: 404 Client Error. (Request ID: Root=1-6;d)\n\nRepository Not Found for url: https://huggingface.co/api/models/acme/none.
+|hub.download|huggingface_hub.errors.GatedRepoError: 403 Client Error. (Request ID: Root=1-6;d)\n\nCannot access gated repo for url https://huggingface.co/acme/acme-7b/resolve/main/config.json.
+|hub.download|huggingface_hub.utils._errors.RevisionNotFoundError: 404 Client Error. (Request ID: Root=1-6;d)\n\nRevision Not Found for url: https://huggingface.co/acme/acme-7b/resolve/x/config.json.
R|hub.download|huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://huggingface.co/api/models/acme/acme-7b
R|hub.download|huggingface_hub.errors.LocalEntryNotFoundError: Cannot find the requested files in the disk cache and outgoing traffic has been disabled. To enable hf.co look-ups and downloads online, set 'local_files_only' to False.
+|hub.download|huggingface_hub.errors.OfflineModeIsEnabled: Cannot reach https://huggingface.co/acme: offline mode is enabled. To disable it, please unset the `HF_HUB_OFFLINE` environment variable.
R|hub.download|requests.exceptions.ReadTimeout: (ReadTimeoutError("HTTPSConnectionPool(host='huggingface.co', port=443): Read timed out. (read timeout=10)"), '(Request ID: d)')
+|hub.download|requests.exceptions.ConnectionError: (MaxRetryError("HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded with url: /acme (Caused by NewConnectionError('<urllib3.connection.HTTPSConnection object at 0x7f00>: Failed to establish a new connection: [Errno 111] Connection refused'))"), '(Request ID: d)')
+|hub.download|httpx.ConnectTimeout: timed out
R|hub.download|datasets.exceptions.DatasetNotFoundError: Dataset 'acme/none' doesn't exist on the Hub or cannot be accessed.
+||datasets.exceptions.DatasetGenerationError: An error occurred while generating the dataset
+|hub.download|ConnectionError: Couldn't reach 'acme/data' on the Hub (ReadTimeout)
+|data.bad-sample|pyarrow.lib.ArrowInvalid: Not an Arrow file
R||wandb.errors.errors.CommError: Run initialization has timed out after 90.0 sec. Please try increasing the timeout with the `init_timeout` setting
+|config.authentication|wandb.errors.UsageError: api_key not configured (no-tty). call wandb.login(key=[your_api_key])
R|config.authentication|botocore.exceptions.ClientError: An error occurred (AccessDenied) when calling the PutObject operation: Access Denied
+|config.authentication|botocore.exceptions.NoCredentialsError: Unable to locate credentials
+|storage.io-error|botocore.exceptions.ClientError: An error occurred (SlowDown) when calling the PutObject operation (reached max retries: 4): Please reduce your request rate.
+|storage.io-error|google.api_core.exceptions.ServiceUnavailable: 503 GET https://storage.googleapis.com/storage/v1/b/x/o
+||google.api_core.exceptions.Forbidden: 403 GET https://storage.googleapis.com/storage/v1/b/x/o: denied
+|storage.io-error|azure.core.exceptions.ResourceNotFoundError: The specified blob does not exist.
# other accelerators
R|gpu.illegal-access|Memory access fault by GPU node-4 (Agent handle: 0x55d766832200) on address 0x7f3a9c000000. Reason: Page not present or supervisor privilege.
R|gpu.xid|HW Exception by GPU node-4 (Agent handle: 0x55d766832200) reason :GPU Hang
R||:0:rocdevice.cpp :2984: 1234567us: [pid:4242 tid:0x7f3a9c1d] Callback: Queue 0x7f3a9c000000 aborting with error : HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources. code: 0x1008
+|gpu.illegal-access|:0:rocdevice.cpp :2984: 1234567us: [pid:4242 tid:0x7f3a9c1d] Callback: Queue 0x7f3a9c000000 aborting with error : HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: The agent attempted to access memory beyond the largest legal address. code: 0x29
R|gpu.illegal-access|RuntimeError: HIP error: an illegal memory access was encountered
+|software.version-incompatible|RuntimeError: HIP error: invalid device function
+|memory.cuda-oom|torch.OutOfMemoryError: HIP out of memory. Tried to allocate 20.00 MiB. GPU 3 has a total capacity of 63.98 GiB of which 12.75 MiB is free.
R|gpu.xid|amdgpu 0000:c1:00.0: amdgpu: GPU reset begin!
+|gpu.illegal-access|amdgpu 0000:c1:00.0: amdgpu: [gfxhub0] no-retry page fault (src_id:0 ring:24 vmid:8 pasid:32770, for process python pid 4242 thread python pid 4242)
+|gpu.ecc|amdgpu 0000:c1:00.0: amdgpu: 1 uncorrectable hardware errors detected in umc block
+||[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx timeout, signaled seq=12, emitted seq=13
R|collective|EI0002: [PID: 4242] 2026-11-20-10:00:00.123.456 The wait execution of the Notify register times out. Reason: The Notify register has not received the Notify record from remote rank: [3]. base information: [streamID:[3], taskID[4], taskType[Notify Wait], tag[AllReduce_x], AlgType(level 0-1-2):[x].] task information: [] group information: [group:[hccl_world_group], user define information[], rankSize[8], rankId[1]]
R||EI0006: [PID: 4242] 2026-11-20-10:00:00.123.456 Getting socket times out. Reason: Remote Rank did not send the data in time. Please check the reason for the rank being stuck
R|nccl.ib-error|EI0009: [PID: 4242] 2026-11-20-10:00:00.123.456 Transport init error. Reason: [Create][DestLink]Create Dest error! createLink para:rank[1]-localUserrank[1]-localIpAddr[10.0.0.7], dst_rank[0]-remoteUserrank[0]-remote_ip_addr[10.0.0.8]
+|gpu.in-use|EJ0001: [PID: 4242] 2026-11-20-10:00:00.123.456 Failed to initialize the HCCP process. Reason: Maybe the last training process is running.
+|nccl.ib-error|EJ0002: [PID: 4242] 2026-11-20-10:00:00.123.456 The network port is down. Device ID: 3.
+|collective.shape-mismatch|EI0005: [PID: 4242] 2026-11-20-10:00:00.123.456 The arguments for collective communication are inconsistent between ranks: parameter count, local end 4, remote end 8
R||RuntimeError: [ERROR] HCCL error in: torch_npu/csrc/distributed/ProcessGroupHCCL.cpp:64
+||RuntimeError: ACL stream synchronize failed, error code:507011
R|collective.timeout|[Rank 3] Watchdog caught collective operation timeout: WorkHCCL(SeqNum=41, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1800012 milliseconds before timing out.
R|memory.cuda-oom|EL0004: [PID: 4242] 2026-11-20-10:00:00.123.456 Failed to allocate memory. Possible Cause: Available memory is insufficient.
R|memory.cuda-oom|RuntimeError: NPU out of memory. Tried to allocate 20.00 MiB (NPU 3; 60.96 GiB total capacity; 58.1 GiB already allocated)
R|memory.cuda-oom|RuntimeError: [Rank:3] FATAL ERROR :: MODULE:PT_DEVMEM Allocation failed for size::1073741824 (1024)MB
+||RuntimeError: Graph compile failed. 26
+|gpu.in-use|RuntimeError: [Rank:2] FATAL ERROR :: MODULE:PT_DEVMEM Device acquire failed.
R|memory.cuda-oom|jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 40.10G of 31.25G hbm.
+|gpu.in-use|RuntimeError: Unable to initialize backend 'tpu': ABORTED: The TPU is already in use by process with pid 22589.
"""
