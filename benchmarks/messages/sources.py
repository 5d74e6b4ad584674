"""Message formats of the libraries, services and file systems that a training job stands on; see the package."""

TABLE = r"""
# torch DataLoader
R|data.worker-died|RuntimeError: DataLoader worker (pid 4242) is killed by signal: Killed.
+|data.worker-died|RuntimeError: DataLoader worker (pid 4242) exited unexpectedly with exit code 1. Details are lost due to multiprocessing. Rerunning with num_workers=0 may give better error trace.
R|data.worker-died|RuntimeError: DataLoader worker (pid(s) 4242, 4243) exited unexpectedly
R|data.worker-died|RuntimeError: DataLoader timed out after 60 seconds
R|data.worker-died|RuntimeError: Pin memory thread exited unexpectedly
R||RuntimeError: DataLoader worker (pid 4242) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.
R|process.resource-limit|RuntimeError: Too many open files. Communication with the workers is no longer possible. Please increase the limit using `ulimit -n` in the shell or change the sharing strategy by calling `torch.multiprocessing.set_sharing_strategy('file_system')` at the beginning of your code
R|memory|RuntimeError: unable to write to file </torch_4242_123_0>: No space left on device (28)
R|memory|RuntimeError: unable to allocate shared memory(shm) for file </torch_4242_99>: Resource temporarily unavailable (11)
R||RuntimeError: unable to open shared memory object </torch_4242_1_0> in read-write mode: Too many open files (24)
R|data.bad-sample|RuntimeError: stack expects each tensor to be equal size, but got [3, 224, 224] at entry 0 and [1, 224, 224] at entry 3
R|data.bad-sample|TypeError: default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found <class 'NoneType'>
R|data.bad-sample|RuntimeError: each element in list of batch should be of equal size
R|data.bad-sample|RuntimeError: Trying to resize storage that is not resizable
R||ValueError: num_samples should be a positive integer value, but got num_samples=0
R||ValueError: prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None.
R||ValueError: persistent_workers option needs num_workers > 0
R||ValueError: sampler option is mutually exclusive with shuffle
R|context|UserWarning: This DataLoader will create 32 worker processes in total. Our suggested max number of worker in current system is 8, which is smaller than what this DataLoader is going to create.
# torch checkpoint and serialization
R|storage.checkpoint-corrupt|RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory
R|storage.checkpoint-corrupt|RuntimeError: PytorchStreamReader failed reading file data/12: file read failed
R|storage.checkpoint-corrupt|RuntimeError: PytorchStreamReader failed locating file data.pkl: file not found
R|storage.checkpoint-corrupt|_pickle.UnpicklingError: pickle data was truncated
R|storage.checkpoint-corrupt|_pickle.UnpicklingError: invalid load key, 'v'.
R|storage.checkpoint-corrupt|EOFError: Ran out of input
R|storage.checkpoint-corrupt|RuntimeError: unexpected EOF, expected 123456 more bytes. The file might be corrupted.
R|storage|RuntimeError: [enforce fail at inline_container.cc:595] . PytorchStreamWriter failed writing file data/46: file write failed
R||RuntimeError: Parent directory /ckpt/step_5 does not exist.
R|storage.checkpoint-corrupt|RuntimeError: Error(s) in loading state_dict for GPT:\n\tMissing key(s) in state_dict: "wte.weight".
R|storage.checkpoint-corrupt|RuntimeError: Error(s) in loading state_dict for GPT:\n\tsize mismatch for wte.weight: copying a param with shape torch.Size([50257, 768]) from checkpoint, the shape in current model is torch.Size([50304, 768]).
R|storage.checkpoint-corrupt|RuntimeError: Missing key in checkpoint state_dict: model.layers.3.weight.
R||torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([0, 1])\nTraceback (most recent call last): (RANK 0)
R|storage.checkpoint-corrupt|ValueError: Size mismatch between saved torch.Size([8, 4]) and current: torch.Size([4, 4]) for model.w
R||_pickle.UnpicklingError: Weights only load failed. This file can still be loaded, to do so you have two options, do those steps only if you trust the source of the checkpoint.
R||RuntimeError: Attempting to deserialize object on CUDA device 3 but torch.cuda.device_count() is 1. Please use torch.load with map_location to map your storages to an existing device.
R||RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU.
R|storage.checkpoint-corrupt|ValueError: loaded state dict contains a parameter group that doesn't match the size of optimizer's group
R|storage.checkpoint-corrupt|ValueError: loaded state dict has a different number of parameter groups
# torch compile and inductor
R||torch._inductor.exc.InductorError: RuntimeError: Failed to find C compiler. Please specify via CC environment variable.
R||torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\nRuntimeError: Triton Error [CUDA]: device kernel image is invalid
R||torch._dynamo.exc.Unsupported: call_function BuiltinVariable(print) [ConstantVariable()] {}
R||torch._dynamo.exc.InternalTorchDynamoError: 'NoneType' object has no attribute 'shape'
R||torch._inductor.exc.CppCompileError: C++ compile error
R||triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 147456, Hardware limit: 101376. Reducing block sizes or `num_stages` may help.
R||RuntimeError: PassManager::run failed
R||torch._inductor.exc.LoweringException: AssertionError:
R||torch._dynamo.exc.FailOnRecompileLimitHit: recompile_limit reached with fullgraph=True. Excessive recompilations can degrade performance
R||subprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmpx/main.c', '-O3', '-shared', '-fPIC', '-o', '/tmp/tmpx/cuda_utils.so']' returned non-zero exit status 1.
R||fatal error: Python.h: No such file or directory
R|software|RuntimeError: Cannot find a working triton installation. Either the package is not installed or it is too old. More information on installing Triton can be found at https://github.com/openai/triton
# torch elastic
R|rendezvous.timeout|torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError
R|rendezvous|torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the C10d store has failed. See inner exception for details.
R|rendezvous|torch.distributed.elastic.rendezvous.api.RendezvousClosedError
R||torch.distributed.elastic.rendezvous.api.RendezvousGracefulExitError
R|context|E0319 23:40:35.118955 139795948843008 torch/distributed/elastic/agent/server/api.py:951] Error waiting on exit barrier. Elapsed: 300.10335206985474 seconds
R|process.terminated|torch.distributed.elastic.multiprocessing.api.SignalException: Process 4242 got signal: 15
R|process.exit-code|torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n============================================================\ntrain.py FAILED
R|network.port-in-use|torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use
R||ValueError: The number of nodes must be specified as <minimum_nodes>:<maximum_nodes>
R||ValueError: Unsupported nproc_per_node value: gpus
# Lightning
R||lightning.fabric.utilities.exceptions.MisconfigurationException: `Trainer(devices=8)` value is not valid
R||lightning.pytorch.utilities.exceptions.MisconfigurationException: No supported gpu backend found!
R||lightning.fabric.utilities.exceptions.MisconfigurationException: You requested gpu: [0, 1, 2, 3]\n But your machine only has: [0, 1]
R|config.world-size-mismatch|ValueError: You set `devices=8` in Lightning, but the number of tasks per node configured in SLURM `--ntasks-per-node=4` does not match. HINT: Set `devices=4`.
R|config.world-size-mismatch|ValueError: You set `num_nodes=2` in Lightning, but the number of nodes configured in SLURM `--nodes=1` does not match. HINT: Set `num_nodes=1`.
R||RuntimeError: It looks like your LightningModule has parameters that were not used in producing the loss returned by training_step. If this is intentional, you must enable the detection of unused parameters in DDP, either by setting the string value `strategy='ddp_find_unused_parameters_true'` or by setting the flag in the strategy with `strategy=DDPStrategy(find_unused_parameters=True)`.
R|process.exit-code|lightning.fabric.utilities.exceptions.MisconfigurationException: \nRuntimeError: DeadLock detected from rank: 0
R|numerics.nan|ValueError: The loss returned in `training_step` is nan.
R|context|`Trainer.fit` stopped: `max_epochs=3` reached.
R|context|Detected KeyboardInterrupt, attempting graceful shutdown ...
R||RuntimeError: Lightning can't create new processes if CUDA is already initialized. Did you manually call `torch.cuda.*` functions, have moved the model to the device, or allocated memory on the GPU any other way?
# datasets, huggingface_hub, safetensors
R|data.bad-sample|datasets.exceptions.DatasetGenerationError: An error occurred while generating the dataset
R|hub.download|datasets.exceptions.DatasetNotFoundError: Dataset 'lab/x' doesn't exist on the Hub or cannot be accessed.
R|hub.download|ConnectionError: Couldn't reach 'lab/x' on the Hub (LocalEntryNotFoundError)
R|data.bad-sample|pyarrow.lib.ArrowInvalid: Could not open Parquet input source '<Buffer>': Parquet magic bytes not found in footer. Either the file is corrupted or this is not a parquet file.
R|data.bad-sample|pyarrow.lib.ArrowInvalid: JSON parse error: Column(/text) changed from string to number in row 12
R|data.bad-sample|datasets.table.CastError: Couldn't cast
R|hub.download|datasets.exceptions.DataFilesNotFoundError: No (supported) data files found in lab/x
R|hub.download|datasets.exceptions.NonMatchingChecksumError: Checksums didn't match for dataset source files:
R|hub.download|huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://huggingface.co/api/models/lab/x
R|hub.download|huggingface_hub.errors.GatedRepoError: 403 Client Error. (Request ID: Root=1-x)\n\nCannot access gated repo for url https://huggingface.co/meta/x/resolve/main/config.json.
R|hub.download|huggingface_hub.errors.RepositoryNotFoundError: 401 Client Error. (Request ID: Root=1-x)
R|hub.download|huggingface_hub.errors.LocalEntryNotFoundError: An error happened while trying to locate the file on the Hub and we cannot find the requested files in the local cache. Please check your connection and try again or make sure your Internet connection is on.
R|hub.download|huggingface_hub.errors.OfflineModeIsEnabled: Cannot reach https://huggingface.co/api/models/x: offline mode is enabled. To disable it, please unset the `HF_HUB_OFFLINE` environment variable.
R|hub.download|huggingface_hub.errors.EntryNotFoundError: 404 Client Error. (Request ID: Root=1-x)
R|hub.download|OSError: Consistency check failed: file should be of size 4976698672 but has size 1003 (model-00001-of-00004.safetensors).
R||huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': '/data/models/llama'. Use `repo_type` argument if needed.
R|storage.checkpoint-corrupt|safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer
R|storage.checkpoint-corrupt|safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge
R|storage.checkpoint-corrupt|safetensors_rust.SafetensorError: Error while deserializing header: incomplete metadata, file not fully covered
R|storage.checkpoint-corrupt|safetensors_rust.SafetensorError: Error while deserializing header: invalid header
R|storage|safetensors_rust.SafetensorError: Error while serializing: IoError(Os { code: 28, kind: StorageFull, message: "No space left on device" })
R|storage|safetensors_rust.SafetensorError: Error while serializing: I/O error: No space left on device (os error 28)
R||RuntimeError: Some tensors share memory, this will lead to duplicate memory on disk and potential differences when loading them again: [{'lm_head.weight', 'model.embed_tokens.weight'}].
# flash-attn and bitsandbytes
R||RuntimeError: FlashAttention only supports Ampere GPUs or newer.
R||RuntimeError: FlashAttention only support fp16 and bf16 data type
R||RuntimeError: FlashAttention forward only supports head dimension at most 256
R|software|ImportError: /opt/venv/lib/python3.10/site-packages/flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so: undefined symbol: _ZN3c104cuda9SetDeviceEi
R|software|ImportError: FlashAttention2 has been toggled on, but it cannot be used due to the following error: the package flash_attn seems to be not installed.
R|software|ImportError: Using `bitsandbytes` 4-bit quantization requires the latest version of bitsandbytes: `pip install -U bitsandbytes`
R|software|RuntimeError: CUDA Setup failed despite GPU being available. Please run the following command to get more information:
R|software|RuntimeError: Configured CUDA binary not found at /opt/venv/lib/python3.10/site-packages/bitsandbytes/libbitsandbytes_cuda126.so
R||ValueError: Some modules are dispatched on the CPU or the disk. Make sure you have enough GPU RAM to fit the quantized model.
R||ValueError: You can't train a model that has been loaded in 8-bit precision on a different device than the one you're training on.
# SGLang
R|memory.cuda-oom|RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: mem_fraction_static=0.6
R||[2025-06-01 10:00:00 TP3] Scheduler hit an exception: Traceback (most recent call last):
R|collective.timeout|[2026-03-27 20:52:54] Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)
R|collective.timeout|[2025-04-03 20:06:34 DP1 TP0] Watchdog timeout (self.watchdog_timeout=300)
R|gpu.in-use|RuntimeError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes. pre_model_load_memory=70.1, local_gpu_memory=78.2, local_gpu_memory * 0.9=70.4
R||RuntimeError: Rank 0 scheduler died during initialization (exit code: -9). If exit code is -9 (SIGKILL), a common cause is the OS OOM killer. Run `dmesg -T | grep -i oom` to check.
R||Child process unexpectedly failed with exitcode=131. pid=4242
R||ValueError: token_to_kv_pool_allocator memory leak detected! available_size=1, protected_size=0, self.max_total_num_tokens=4
# NeMo, Megatron, Transformer Engine
R||RuntimeError: /tmp/te/common/fused_attn/fused_attn.cpp:211 in function nvte_fused_attn_fwd: Assertion failed: false. Invalid combination of data type and sequence length for fused attention.
R|harmless|RuntimeError: /tmp/te/common/util/cuda_driver.cpp:40 in function get_symbol: CUDA Error: driver shutting down
R|numerics.nan|RuntimeError: found NaN in local grad norm for bucket #0 in backward pass before data-parallel communication collective. Device: 3, node: n07
R|numerics.nan|RuntimeError: Rank 3, node n07, device 3, iteration 120: Unexpected result nan (message='found NaN in local forward loss calculation')
R|numerics|RuntimeError: Rank 3, node n07, device 3, iteration 120: Unexpected result 1e20 (message='found Inf in local forward loss calculation')
R|config.world-size-mismatch|RuntimeError: world_size (12) is not divisible by 8
R|config|AssertionError: hidden_size 4100 is not divisible by num_attention_heads 32
R|config|AssertionError: number of experts should be divisible by expert model parallel size
R|config|AssertionError: vocab size 32001 is not divisible by tensor parallel size 4
R|storage.checkpoint-corrupt|megatron.core.dist_checkpointing.core.CheckpointingException: Cannot find global shape metadata for N-D flattened tensor ShardedTensor(key='optimizer.state')
R|storage.checkpoint-corrupt|megatron.core.dist_checkpointing.core.CheckpointingException: Checkpoint directory /ckpt/iter_0000500 does not exist
R|storage.checkpoint-corrupt|megatron.core.dist_checkpointing.core.CheckpointingException: Global shape mismatch for loaded (torch.Size([4, 8])) and expected ((4, 16)) tensor for key decoder.w
R||IndexError: The index 40 is out of bounds for the dataset blend
R||RuntimeError: CUDA Error: no kernel image is available for execution on the device
R|software.version-incompatible|RuntimeError: cuDNN Frontend error: [cudnn_frontend] Error: No execution plans support the graph.. For more information, enable cuDNN error logging by setting CUDNN_LOGERR_DBG=1 and CUDNN_LOGDEST_DBG=stderr in the environment.
# verl, OpenRLHF, TRL
R||AssertionError: real_train_batch_size (120) must be divisible by minimal possible batch size (16)
R||AssertionError: only support equal chunk. Got size of DataProto 127 and chunk 8.
R|memory.cuda-oom|ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.
R|memory.cuda-oom|ValueError: Free memory on device (12.1/79.1 GiB) on startup is less than desired GPU memory utilization (0.9, 71.19 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.
R|config|ValueError: To serve at least one request with the models's max seq len (32768), (4.00 GiB KV cache is needed, which is larger than the available KV cache memory (1.22 GiB).
R||ValueError: Total available GPUs 4 is less than total desired GPUs 8
R||ValueError: The global train batch size (4 x 8) must be evenly divisible by the number of generations per prompt (6). Given the current train batch size, the valid values for the number of generations are: [2, 4, 8, 16, 32].
R||ConnectionError: The vLLM server can't be reached at http://0.0.0.0:8000 after 120.0 seconds. Make sure the server is running by running `trl vllm-serve`.
R||AssertionError: Hostname mismatch
R||ray.exceptions.RayTaskError(ValueError): ray::WorkerDict.actor_rollout_update_actor() (pid=4242, ip=10.0.0.1)
# Slurm
R|process.time-limit|slurmstepd: error: *** JOB 4242 ON n01 CANCELLED AT 2026-01-01T10:00:00 DUE TO TIME LIMIT ***
R|process.preempted|slurmstepd: error: *** JOB 4242 ON n01 CANCELLED AT 2026-01-01T10:00:00 DUE TO PREEMPTION ***
R|process.node-failure|slurmstepd: error: *** JOB 4242 ON n01 CANCELLED AT 2026-01-01T10:00:00 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***
R|process.node-failure|srun: error: Node failure on n01
R|process.terminated|slurmstepd: error: *** STEP 4242.0 ON n01 CANCELLED AT 2026-01-01T10:00:00 ***
R|memory.host-oom|slurmstepd: error: Detected 1 oom_kill event in StepId=4242.0. Some of the step tasks have been OOM Killed.
R|memory.host-oom|slurmstepd: error: Detected 1 oom-kill event(s) in StepId=4242.batch. Some of your processes may have been killed by the cgroup out-of-memory handler.
R|memory.host-oom|slurmstepd: error: Exceeded step memory limit at some point.
R||srun: error: Unable to create step for job 4242: Requested node configuration is not available
R||srun: error: Unable to create step for job 4242: More processors requested than permitted
R||srun: error: Unable to confirm allocation for job 4242: Invalid job id specified
R|config|sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified
R|process.not-scheduled|sbatch: error: QOSMaxSubmitJobPerUserLimit
R|process.not-started|slurmstepd: error: execve(): python: No such file or directory
R|process.not-started|slurmstepd: error: task_p_pre_launch: Using sched_affinity for tasks failed
R|process.not-started|srun: error: Task launch for StepId=4242.0 failed on node n01: Invalid job credential
R|process.not-started|srun: error: task 3 launch failed: Error configuring interconnect
R|process.not-started|slurmstepd: error: Failed to invoke task plugins: one of task_p_pre_setuid functions returned error
R|harmless|slurmstepd: error: Unable to create TMPDIR [/tmp/user]: Permission denied
R|process.terminated|srun: interrupt (one more within 1 sec to abort)
R|process.exit-code|srun: error: n01: task 3: Exited with exit code 1
R|process.segfault|srun: error: n01: task 3: Segmentation fault (core dumped)
R|process.sigkill|srun: error: n01: task 3: Killed
R|memory.host-oom|srun: error: n01: task 3: Out Of Memory
R||srun: error: Timed out waiting for job step to complete
R||slurmstepd: error: couldn't chdir to `/home/x/run': No such file or directory: going to /tmp instead
R|process.not-started|slurmstepd: error: pyxis: container start failed with error code: 1
R|process.not-started|slurmstepd: error: pyxis: failed to import docker image
# kubelet, containerd, Kubernetes
R|memory.host-oom|    Reason:       OOMKilled
R|process|Warning  FailedScheduling  2m  default-scheduler  0/8 nodes are available: 8 Insufficient nvidia.com/gpu. preemption: 0/8 nodes are available: 8 No preemption victims found for incoming pod.
R|process.not-started|Warning  Failed  10s  kubelet  Failed to pull image "reg/x:1": rpc error: code = NotFound desc = failed to pull and unpack image "reg/x:1": failed to resolve reference "reg/x:1": reg/x:1: not found
R|process.not-started|Warning  Failed  10s  kubelet  Error: ImagePullBackOff
R|process.not-started|Warning  FailedMount  10s  kubelet  MountVolume.SetUp failed for volume "data" : rpc error: code = DeadlineExceeded desc = context deadline exceeded
R|process.not-started|Warning  FailedCreatePodSandBox  10s  kubelet  Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox
R|storage.disk-full|Warning  Evicted  10s  kubelet  The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 5Gi.
R|memory.host-oom|Warning  Evicted  10s  kubelet  The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. Container train was using 400Gi, request is 0, has larger consumption of memory.
R|process.not-started|Error: failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "python3": executable file not found in $PATH: unknown
R|process.not-started|OCI runtime create failed: container_linux.go:380: starting container process caused: process_linux.go:545: container init caused: Running hook #0:: error running hook: exit status 1, stdout: , stderr: nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown
R|gpu|Warning  UnexpectedAdmissionError  10s  kubelet  Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 8, Available: 7, which is unexpected
R|process.node-failure|Warning  NodeNotReady  10s  node-controller  Node is not ready
R|process.terminated|Warning  Unhealthy  10s  kubelet  Liveness probe failed: HTTP probe failed with statuscode: 500
R|process.preempted|Normal  Preempted  10s  default-scheduler  Preempted by pod 8d2 on node n7
R|process.terminated|  Normal   Killing      10s  kubelet  Stopping container train
R|process.time-limit|Warning  DeadlineExceeded  10s  job-controller  Job was active longer than specified deadline
R|process|Warning  BackoffLimitExceeded  10s  job-controller  Job has reached the specified backoff limit
R||Warning  BackOff  10s  kubelet  Back-off restarting failed container train in pod x
# the driver's Xid list
R|gpu|NVRM: Xid (PCI:0000:1b:00): 13, pid=4242, name=python, Graphics Exception: ESR 0x504648=0x104000e
R|gpu|NVRM: Xid (PCI:0000:1b:00): 31, pid=4242, name=python, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ
R|gpu|NVRM: Xid (PCI:0000:1b:00): 32, pid=4242, Invalid or corrupted push buffer stream
R|gpu|NVRM: Xid (PCI:0000:1b:00): 43, pid=4242, name=python, Ch 00000010
R|gpu|NVRM: Xid (PCI:0000:1b:00): 45, pid=4242, name=python, Ch 00000008
R|gpu.ecc|NVRM: Xid (PCI:0000:1b:00): 48, pid=4242, name=python, DBE (double bit error) ECC Error
R|gpu|NVRM: Xid (PCI:0000:1b:00): 56, CMDre 00000000 00000000
R|gpu|NVRM: Xid (PCI:0000:1b:00): 61, pid=4242, 0d03 00003a8c 00000000
R|gpu|NVRM: Xid (PCI:0000:1b:00): 62, pid=4242, 2027 1b3c 0000
R|gpu|NVRM: Xid (PCI:0000:1b:00): 63, pid=4242, name=python, Row Remapper: New row marked for remapping, reset gpu to activate.
R|gpu.ecc|NVRM: Xid (PCI:0000:1b:00): 64, pid=4242, name=python, Row Remapper: failed to remap row
R|gpu|NVRM: Xid (PCI:0000:1b:00): 68, pid=4242, NVDEC0 Exception
R|gpu|NVRM: Xid (PCI:0000:1b:00): 69, pid=4242, name=python, Class Error: ChId 0008
R|gpu.nvlink|NVRM: Xid (PCI:0000:1b:00): 74, pid=4242, NVLink: fatal error detected on link 4(0x10000, 0x0)
R|gpu.off-bus|NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, GPU has fallen off the bus.
R|context|NVRM: Xid (PCI:0000:1b:00): 92, pid=4242, High single-bit ECC error rate
R|gpu|NVRM: Xid (PCI:0000:1b:00): 94, pid=4242, name=python, Contained: CE User Channel (0x9). RST: No, D-RST: No
R|gpu|NVRM: Xid (PCI:0000:1b:00): 95, pid=4242, name=python, Uncontained: FBHUB. RST: Yes, D-RST: No
R|gpu|NVRM: Xid (PCI:0000:1b:00): 109, pid=4242, name=python, Ch 00000008, errorString CTX SWITCH TIMEOUT, Info 0x5c00d
R|gpu|NVRM: Xid (PCI:0000:1b:00): 110, pid=4242, SEC_FAULT
R|gpu.gsp|NVRM: Xid (PCI:0000:1b:00): 119, pid=4242, name=python, Timeout after 6s of waiting for RPC response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL)
R|gpu.gsp|NVRM: Xid (PCI:0000:1b:00): 120, pid=4242, GSP Error: Task 1 raised error code 0x5
R|context|NVRM: Xid (PCI:0000:1b:00): 121, pid=4242, C2C Error
R|gpu|NVRM: Xid (PCI:0000:1b:00): 122, pid=4242, SPI PMU RPC Read Failed
R|gpu|NVRM: Xid (PCI:0000:1b:00): 123, pid=4242, SPI PMU RPC Write Failed
R|gpu|NVRM: Xid (PCI:0000:1b:00): 136, pid=4242, Link training failed
R|gpu|NVRM: Xid (PCI:0000:1b:00): 137, pid=4242, name=python, NVLink FLA privilege error
R|gpu.ecc|NVRM: Xid (PCI:0000:1b:00): 140, pid=4242, name=python, ECC unrecovered error
R|gpu|NVRM: Xid (PCI:0000:1b:00): 143, pid=4242, GPU initialization error
R|gpu.nvlink|NVRM: Xid (PCI:0000:1b:00): 144, NVLINK: SAW_MVB Non-fatal
R|gpu.nvlink|NVRM: Xid (PCI:0000:1b:00): 145, NVLINK: RLW Non-fatal
R|gpu.nvlink|NVRM: Xid (PCI:0000:1b:00): 149, NVLINK: NETIR_LINK_EVT Fatal
R|gpu|NVRM: Xid (PCI:0000:1b:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)
R|gpu|NVRM: Xid (PCI:0000:1b:00): 158, GPU Fatal Timeout
R|gpu.off-bus|NVRM: GPU 0000:1b:00.0: GPU has fallen off the bus.
# Lustre, NFS, GPFS, local disks
R|storage|LustreError: 4242:0:(file.c:4412:ll_inode_revalidate_fini()) lustre: revalidate FID error: rc = -108
R|storage|LustreError: 167-0: lfs-OST0003-osc-ffff: This client was evicted by lfs-OST0003; in progress operations using this service will fail.
R|storage|Lustre: 4242:0:(client.c:2289:ptlrpc_expire_one_request()) @@@ Request sent has timed out for slow reply: [sent 1700000000/real 1700000000]
R|storage|LustreError: 11-0: lfs-MDT0000-mdc-ffff: operation ldlm_enqueue to node 10.0.0.1@o2ib failed: rc = -107
R|storage|Lustre: lfs-OST0003-osc-ffff: Connection to lfs-OST0003 (at 10.0.0.1@o2ib) was lost; in progress operations using this service will wait for recovery to complete
R|harmless|Lustre: lfs-OST0003-osc-ffff: Connection restored to 10.0.0.1@o2ib (at 10.0.0.1@o2ib)
R|storage|nfs: server nas01 not responding, still trying
R|storage|nfs: server nas01 not responding, timed out
R|harmless|nfs: server nas01 OK
R|storage|OSError: [Errno 116] Stale file handle: '/mnt/nfs/ckpt'
R|storage|OSError: [Errno 5] Input/output error: '/mnt/weka/x.bin'
R|storage|OSError: [Errno 122] Disk quota exceeded: '/home/u/x'
R|storage|OSError: [Errno 30] Read-only file system: '/data/x'
R|storage|OSError: [Errno 107] Transport endpoint is not connected: '/mnt/gcs'
R|storage|OSError: [Errno 108] Cannot send after transport endpoint shutdown: '/lustre/x'
R|storage|mmfs: [E] File system gpfs1 unmounted by the system with return code 5 reason code 0
R|storage|EXT4-fs error (device nvme0n1p1): ext4_find_entry:1455: inode #2: comm python: reading directory lblock 0
R|storage|XFS (nvme0n1): Corruption of in-memory data detected.  Shutting down filesystem
R|storage|blk_update_request: I/O error, dev nvme0n1, sector 12345 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 0
R|storage|nvme nvme0: I/O 12 QID 3 timeout, aborting
R|storage|Buffer I/O error on dev nvme0n1, logical block 0, async page read
# RCCL and ROCm
R|gpu|Memory access fault by GPU node-4 (Agent handle: 0x55d) on address 0x7f00. Reason: Page not present or supervisor privilege.
R|gpu|:0:rocdevice.cpp:3586: 79774339723890 us: Callback: Queue 0x7f78cb400000 aborting with error : HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception. code: 0x1016
R||:0:rocdevice.cpp:3586: 79774339723890 us: Callback: Queue 0x7f78cb400000 aborting with error : HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources. This error may also occur when the core runtime library needs to spawn threads or create internal OS-specific events. Available Free mem : 0 MB
R|gpu|amdgpu 0000:c6:00.0: amdgpu: ring sdma0 timeout, signaled seq=1, emitted seq=3
R|gpu|amdgpu 0000:c6:00.0: amdgpu: GPU reset begin!
R|gpu|amdgpu 0000:c6:00.0: [gfxhub0] no-retry page fault (src_id:0 ring:40 vmid:8 pasid:32776, for process python pid 4277 thread python pid 4277)
R|memory.cuda-oom|torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 63.98 GiB of which 1.00 GiB is free.
R|gpu|RuntimeError: HIP error: an illegal memory access was encountered
R||RuntimeError: HIP error: the operation cannot be performed in the present state
R||RuntimeError: HIP error: invalid device function
R|gpu|RuntimeError: No HIP GPUs are available
# JAX and TPU
R|memory.cuda-oom|jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.
R|memory.cuda-oom|jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 18.00G of 15.75G hbm. Exceeded hbm capacity by 2.25G.
R|rendezvous|jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: PjRT_Client_Connect::0. This usually happens because a task triggered the barrier too early or too slowly.
R|network|jaxlib.xla_extension.XlaRuntimeError: UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):\n/job:jax_worker/replica:0/task:2
R|rendezvous|jaxlib.xla_extension.XlaRuntimeError: ABORTED: /job:jax_worker/replica:0/task:2 unexpectedly tried to connect with a different incarnation. It has likely restarted.
R|gpu.in-use|RuntimeError: Unable to initialize backend 'tpu': ABORTED: The TPU is already in use by process with pid 4242. Not attempting to load libtpu.so in this process.
R||RuntimeError: Unable to initialize backend 'tpu': UNAVAILABLE: No TPU devices found
R||RuntimeError: Unable to initialize backend 'tpu': INVALID_ARGUMENT: TpuPlatform is not available.
R|gpu|jaxlib.xla_extension.XlaRuntimeError: INTERNAL: CUDA error: Failed to end stream capture: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered
R|numerics.nan|FloatingPointError: invalid value (nan) encountered in jit(step)
R||ValueError: Number of devices 7 must equal the product of mesh_shape (2, 4)
R||RuntimeError: jax.distributed.initialize() must be called before any JAX computations are executed.
R||jaxlib.xla_extension.XlaRuntimeError: FAILED_PRECONDITION: DNN library initialization failed. Look at the errors above for more details.
# MPI family
R|config|There are not enough slots available in the system to satisfy the 16 slots
R|process.not-started|mpirun was unable to launch the specified application as it could not access\nor execute an executable:\n\nExecutable: ./train.sh\nNode: n17
R|process.exit-code|MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD
R|process.exit-code|Abort(1) on node 3 (rank 3 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 1) - process 3
R|process|ORTE has lost communication with a remote daemon.
R||[n01:4242] *** An error occurred in MPI_Allreduce
R|nccl|[1700000000.1] [n01:4242:0]        ib_mlx5_log.c:177  UCX  ERROR Transport retry count exceeded on mlx5_0:1/IB (synd 0x15 vend 0x81 hw_synd 0/0)
R||Fatal error in PMPI_Init_thread: Other MPI error, error stack:
R||Primary job  terminated normally, but 1 process returned\na non-zero exit code. Per user-direction, the job has been aborted.
# Horovod
R|collective.straggler|[2026-01-01 10:00:00.0: W /tmp/horovod/common/stall_inspector.cc:107] One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds.
R|collective.shape-mismatch|horovod.common.exceptions.HorovodInternalError: Mismatched allreduce tensor shapes: One rank sent a tensor of shape [10], but another rank sent a tensor of shape [12].
R||horovod.common.exceptions.HorovodInternalError: Horovod has been shut down. This was caused by an exception on one of the ranks or an attempt to allreduce, allgather or broadcast a tensor after one of the ranks finished execution.
R||RuntimeError: Horovod detected that one or more processes exited with non-zero status, thus causing the job to be terminated.
# Ray
R|memory.ray-oom|ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.
R|ray|ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.
R|ray|ray.exceptions.ActorUnavailableError: The actor 0a1b is unavailable: The actor is temporarily unavailable: RpcError: RPC Error message: Socket closed; RPC Error details: rpc_code: 14.
R|ray|ray.exceptions.NodeDiedError: Task failed due to the node (where this task was running)  was dead or unavailable.
R|ray|ray.exceptions.ObjectLostError: Failed to retrieve object 0a1b. To see information about where this ObjectRef was created in Python, set the environment variable RAY_record_ref_creation_sites=1
R|ray|ray.exceptions.OwnerDiedError: Failed to retrieve object 0a1b.
R|ray|ray.exceptions.ObjectStoreFullError: Failed to put object 0a1b in object store because it is full. Object size is 123 bytes.
R|storage|ray.exceptions.OutOfDiskError: Local disk is full
R|software|ray.exceptions.RuntimeEnvSetupError: Failed to set up runtime environment.
R|ray|ray.exceptions.LocalRayletDiedError: The task's local raylet died. Check raylet.out for more information.
R||ray.exceptions.GetTimeoutError: Get timed out: some object(s) not ready.
R||ConnectionError: Could not find any running Ray instance. Please specify the one to connect to by setting `--address` flag or `RAY_ADDRESS` environment variable.
R||TimeoutError: Placement group creation timed out. Make sure your cluster either has enough resources or use an autoscaling cluster.
R||ray.train.base_trainer.TrainingFailedError: The Ray Train run failed. Please inspect the previous error messages for a cause.
R||RuntimeError: The remote worker returned a nonzero exit code
"""
