"""Message formats of PyTorch, c10d, Gloo, torchelastic and CUDA; see the package for how to read a line."""

TABLE = r"""
# watchdog
C|collective.timeout|[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=41, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.
+|collective.timeout|[Rank 6] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1801012 milliseconds before timing out.
C|collective.timeout|[Rank 3] Caught collective operation timeout: WorkNCCL(SeqNum=41, OpType=ALLREDUCE, TensorShape=[4096], Timeout(ms)=1800000) ran for 1800512 milliseconds before timing out.
C|collective.timeout|RuntimeError: Work WorkNCCL(SeqNum=41, OpType=ALLREDUCE, TensorShape=[4096], Timeout(ms)=1800000) timed out in call to wait().
C|collective.timeout|[Rank 3] Work WorkNCCL(SeqNum=41, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) timed out in blocking wait (NCCL_BLOCKING_WAIT=1).
C|collective.timeout|[Rank 3] Work WorkNCCL(SeqNum=41, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) timed out in blocking wait (TORCH_NCCL_BLOCKING_WAIT=1).
C|collective.timeout|[Rank 3] Work WorkNCCL(SeqNum=41, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) timed out in blocking wait.
C|collective.timeout|[PG 0 Rank 3] Timeout at NCCL work: 41, last enqueued NCCL work: 45, last completed NCCL work: 40.
C|collective.timeout|[PG 0 (default_pg) Rank 3] Exception (either an error or timeout) detected by watchdog at work: 41, last enqueued NCCL work: 45, last completed NCCL work: 40.
C|collective.timeout|[PG ID 0 PG GUID 0(default_pg) Rank 3]  failure detected by watchdog at work sequence id: 41 PG status: last enqueued work: 45, last completed work: 40
C|collective.timeout|[Rank 3] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.
C|collective.timeout|[Rank 3] To avoid data inconsistency, we are taking the entire process down.
C|collective.timeout|Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data. To avoid this inconsistency, we are taking the entire process down.
C|collective.timeout|[Rank 3] NCCL watchdog thread terminated with exception: [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=41, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.
C|collective.timeout|[PG ID 0 PG GUID 0(default_pg) Rank 3] Process group watchdog thread terminated with exception: [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=41, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.
+|gpu.ecc|[PG ID 0 PG GUID 0(default_pg) Rank 3] Process group watchdog thread terminated with exception: CUDA error: uncorrectable ECC error encountered
+||[PG 0 Rank 3] Process group watchdog thread terminated with exception: unknown
C|nccl.system-error|[Rank 3] found async exception when checking for NCCL errors: NCCL error: unhandled system error, NCCL version 2.19.3
+|nccl.remote-error|[Rank 3] found async exception when checking for NCCL errors: NCCL error: remote process exited or there was a network error, NCCL version 2.19.3
C|nccl.remote-error|[Rank 3] Collective WorkNCCL(SeqNum=41, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) raised the following async exception: NCCL error: remote process exited or there was a network error, NCCL version 2.26.2
X|printed at INFO level, which is off by default; the exception that follows has a rule|[Rank 3] Received NCCL errors for communicators in the cache: \nNCCL error: \nunhandled system error, NCCL version 2.14.3
# heartbeat and dump
RC?|collective.api-hang|[Rank 3] NCCL monitor thread timeout. Basically, this could be due to CUDA or NCCL calls being unexpectedly blocking, especially when your program enters a deadlock state in watchdogor destructors. If you see this error, please file a bug to pytorch.
RC?|collective.api-hang|[Rank 3] monitoring thread detects no heartbeat and will finally kill the process! terminating.
RC?|collective.api-hang|[PG 0 Rank 3] Heartbeat monitor timed out! Process will be terminated after dumping debug info. workMetaList_.size()=2
RC?|collective.api-hang|[PG ID 0 PG GUID 0(default_pg) Rank 3] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives. This typically indicates a NCCL/CUDA API (e.g., CudaEventDestroy) hang blocking the watchdog, and could be triggered by another thread holding the GIL inside a CUDA api
C|collective.timeout|[PG 0 Rank 3] Received a timeout signal from this local rank and will start to dump the debug info. Last enqueued NCCL work: 45, last completed NCCL work: 40.
+|collective.timeout|[PG 0 Rank 3] Received a global timeout from another rank and will start to dump the debug info. Last enqueued NCCL work: 45, last completed NCCL work: 40.
C|collective.timeout|[PG 0 (default_pg) Rank 3] Received a dump signal from this local rank and will start to dump the debug info. Last enqueued NCCL work: 45, last completed NCCL work: 40.
+|collective.timeout|[PG 0 (default_pg) Rank 3] Received a global dump signal from rank 5, and will start to dump the debug info. Last enqueued NCCL work: 45, last completed NCCL work: 40.
C|collective.timeout|[PG ID 0 PG GUID 0(default_pg) Rank 3] Received a dump signal due to a collective timeout from this local rank and we will try our best to dump the debug info. Last enqueued NCCL work: 45, last completed NCCL work: 40.This is most likely caused by incorrect usages of collectives, e.g., wrong sizes used across ranks
+|collective.timeout|[PG ID 0 PG GUID 0(default_pg) Rank 3] Received a dump signal due to a collective timeout from  rank 5 and we will try our best to dump the debug info. Last enqueued NCCL work: 45, last completed NCCL work: 40.
C|collective.timeout|[PG 0 Rank 3] ProcessGroupNCCL's watchdog detected a collective timeout from the local rank. This is most likely caused by incorrect usages of collectives
+|collective.timeout|[PG 0 Rank 3] ProcessGroupNCCL's watchdog detected a collective timeout on some other rank and notified current rank. This is most likely caused by incorrect usages of collectives
C|collective.timeout|[PG 0 Rank 3] ProcessGroupNCCL's watchdog detected an exception from the local rank. This is most likely caused by incorrect usages of collectives
+|collective.timeout|[PG 0 Rank 3] ProcessGroupNCCL's watchdog detected a dump signal from rank 5 and notified the current rank. This is most likely caused by incorrect usages of collectives
C|collective.timeout|[PG ID 0 PG GUID 0(default_pg) Rank 3] Terminating the process after attempting to dump debug info, due to collective timeout or exception.
+|collective.api-hang|[PG ID 0 PG GUID 0(default_pg) Rank 3] Terminating the process after attempting to dump debug info, due to ProcessGroupNCCL watchdog hang.
C|collective.timeout|First watchdog to set the dump signal.
+|collective.timeout|First PG on this rank detecting the dump signal through tcpstore.
+|collective.api-hang|First PG on this rank that detected no heartbeat of its watchdog.
C|collective.timeout|Broadcasting flight-recorder dump signal to other processes via TCPStore.
C|collective.timeout|Broadcasting flight recorder dump signal to other processes via TCPStore.
C|collective.timeout|[PG ID 0 PG GUID 0(default_pg) Rank 3] Broadcasting signal exception_dump to other ranks via TCPStore.
C|collective.timeout|[PG ID 0 PG GUID 0(default_pg) Rank 3] First PG on this rank to signal dumping.
C|collective.timeout|[PG ID 0 PG GUID 0(default_pg) Rank 3] Observed flight recorder dump signal from another rank via TCPStore.
C|collective.timeout|[PG 0 (default_pg) Rank 3] Failed to set dump signal in tcpstore. Error: Broken pipe
C|harmless|[PG ID 0 PG GUID 0(default_pg) Rank 3] Failed to check the "should dump" flag on TCPStore, (maybe TCPStore server has shut down too early), with error: failed to recv, got 0 bytes
C|context|Failed to get exception dump flag from the global store.Broken pipe
C|context|slept for 60000ms giving time for flight recorder dumps to finish.
+|context|timed out after waiting for 60000ms flight recorder dumps to finish.
C|context|ProcessGroupNCCL preparing to dump debug info. Include stack trace: 1
C|context|Future for Flight recorder dump in heartbeatMonitor timed out after 60000 ms
+|context|Exception thrown when waiting for future Flight recorder dump in heartbeatMonitor: broken promise
RC?|collective.api-hang|Could not acquire GIL within 300 ms on exit, possible GIL induced hang
C|collective.timeout|ProcessGroupNCCL monitor thread is disabled, but would have terminated the process after attempting to dump debug info, due to collective timeout or exception.
+|collective.api-hang|PGNCCL Monitor Thread is disabled, but would have killed this job:\n[PG 0 Rank 3] ProcessGroupNCCL's watchdog got stuck for 600 seconds without making progress in monitoring enqueued collectives.
C|collective.timeout|[PG ID 0 PG GUID 0(default_pg) Rank 3]  remote error detected from rank: 5
C|context|slept for 480000 waiting for desync report or process group destroy.
# desync report
RC|collective.desync|\n\t - [3] Timeout at collective: ALLREDUCE, #41
RC|collective.straggler|\t - To our best knowledge, ranks [1, 2] are the lagging ranks that caused this timeout. They never joined any collectives
C||\t - To our best knowledge, the lagging/dead/mismatched ranks that caused the desync are:\n\t   - [1] joined but didn't finish collective #41 (count from 1)
RC||\t   - [1, 2] joined but didn't finish collective #41 (count from 1)
RC|collective.straggler|\t     [1] finished collective #40, but didn't join collective #41 (count from 1)
RC||\t - Snapshot of ranks' latest states:\n\t   #41 started ranks:\n\t     [0] started ALLREDUCE\n\t     [1] started ALLGATHER
C|harmless|Failed to retrieve TORCH_NCCL_DESYNC_DEBUG report.  Please file an issue. Error: traceMap[thisSeq][myRank].second == kEventStart INTERNAL ASSERT FAILED
+||Store is down while updating #41 with key NCCL_0_trace_start
# communicator errors
RC?|nccl.system-error|torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:3384, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.26.2\nncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error. \nLast error:\nError: failed to extend /dev/shm/nccl-8CQBDh to 33030532 bytes, error: No space left on device (28)
+|nccl.system-error|torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:3384, unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.26.2\nncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nCuda failure 'out of memory'
C|nccl.remote-error|[PG ID 0 PG GUID 0(default_pg) Rank 3] Process group watchdog thread terminated with exception: NCCL error: remote process exited or there was a network error, NCCL version 2.26.2
RC?|nccl.system-error|RuntimeError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/NCCLUtils.hpp:121, unhandled system error, NCCL version 2.14.3\nncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error. It can be also caused by unexpected exit of a remote peer.
+|nccl.internal-error|RuntimeError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1269, internal error, NCCL version 2.14.3\nncclInternalError: Internal check failed.
+|nccl.invalid-usage|RuntimeError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1269, invalid usage, NCCL version 2.14.3\nncclInvalidUsage: This usually reflects invalid usage of NCCL library.
+|nccl.invalid-usage|RuntimeError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1269, invalid argument, NCCL version 2.14.3\nncclInvalidArgument: Invalid value for an argument.
RC?|nccl.internal-error|torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1691, internal error - please report this issue to the NCCL developers, NCCL version 2.19.3
+|nccl.remote-error|torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1691, remote process exited or there was a network error, NCCL version 2.19.3
C|collective.timeout|RuntimeError: NCCL communicator was aborted on rank 3.  Original reason for failure was: [Rank 3] Watchdog caught collective operation timeout
+|collective.timeout|torch.distributed.DistBackendError: NCCL communicator was aborted on rank 3. Original reason for failure was: [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=41, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.
C|collective.timeout|torch.distributed.DistBackendError: NCCL communicator encountered error set by ProcessGroupNCCL: NCCL error: remote process exited or there was a network error, NCCL version 2.19.3
X|printed at INFO level, which is off by default|Aborting ncclComm_ 0x55d766832200 with reason: No abort reason provided.
C||torch.distributed.DistBackendError: [3] is setting up NCCL communicator and retreiving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Connection reset by peer
C||torch.distributed.DistBackendError: [3] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Socket Timeout. This may indicate a possible application crash on rank 0 or a network set up issue.
+||torch.distributed.DistBackendError: [3] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '/default_pg/0//cuda//0', but store->get('/default_pg/0//cuda//0') got error: wait timeout after 600000ms, keys: /default_pg/0//cuda//0. This may indicate a possible application crash on rank 0 or a network set up issue.
C||torch.distributed.DistBackendError: [3] is setting up NCCL communicators and retrieving ncclUniqueId from roots via TCPStore by key '[0, 1]', but got error: wait timeout after 600000ms
C|collective.timeout|torch.distributed.DistBackendError: NCCL timeout in communicator initialization.
+|collective.timeout|torch.distributed.DistBackendError: NCCL timeout when waiting for nonblocking call to become successful.
C||RuntimeError: ProcessGroupNCCL: Health check failure: Failed to initialize NCCL communicator on rank 3
RC|nccl.invalid-usage|ValueError: Attempt to perform collective on tensor not on device passed to init_process_group
X|printed beside the exception of this row, which has a rule|Tensor found on device cuda:1 but backend constrained to cuda:0
RC|gpu.driver-mismatch|ValueError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!
+|gpu.driver-mismatch|RuntimeError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!
RC|nccl.invalid-usage|gpu617:22841:22841 [0] init.cc:612 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 9b000
RC|gpu.device-assert|RuntimeError: CUDA error: device-side assert triggered
# gloo
C|network.connection-reset|RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.0.0.7]:37152
C|network.connection-reset|RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.7]:37152. This is typically caused by a remote worker crashing. Check the logs of the remote worker before reporting an error.
C|network.connection-reset|RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:537] Read error [10.0.0.7]:37152: Connection reset by peer
C|collective.timeout|RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:525] Read timeout [10.0.0.7]:37152
+|network|RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:525] Connect timeout [10.0.0.7]:37152
+|network|RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:525] Socket closed [10.0.0.7]:37152
+|network|RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:525] writev [10.0.0.7]:37152: Connection reset by peer
C|collective.timeout|RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete
+|collective.timeout|RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:136] Timed out waiting 1800000ms for send operation to complete
C||RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:525] Application timeout caused pair closure
RC?|network|RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:152] timed out connecting: SO_ERROR: Connection refused, remote=[10.0.0.7]:25520
+|network|failed to connect, willRetry=0, retry=3, retryLimit=3, rank=1, size=2, local=[10.0.0.8]:4411, remote=[10.0.0.7]:25520, error=SO_ERROR: Connection refused
RC|collective.shape-mismatch|RuntimeError: [enforce fail at ../third_party/gloo/gloo/transport/tcp/pair.cc:446] op.preamble.length <= op.nbytes. 8192 vs 4096
RC|network|RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error
RC|network|Unable to resolve hostname to a (local) address. Using the loopback address as fallback. Manually set the network interface to bind to with GLOO_SOCKET_IFNAME.
RC|network|RuntimeError: Cannot resolve gpu-node-07 to a (local) address
C||RuntimeError: Wait timeout for key(s): rank_1/0
# monitored barrier and wrapper
RC|collective.straggler|[Rank 0]: Rank 3 failed to pass monitoredBarrier in 60000 ms
RC|collective.straggler|[Rank 0]: Ranks 1, 3 failed to pass monitoredBarrier in 60000 ms
C|collective.timeout|RuntimeError: Rank 0 timed out in monitoredBarrier after 60000 ms.\nNo ranks successfully processed in monitoredBarrier.
C|collective.timeout|RuntimeError: Rank 2 successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank 0. Please check rank 0 logs for faulty rank.
RC|collective.desync|RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=38, OpType=ALLREDUCE, TensorShape=[2], TensorDtypes=Float, TensorDeviceTypes=TensorOptions(dtype=float (default), device=cuda)), but Rank 1 is running collective: CollectiveFingerPrint(SequenceNumber=38, OpType=ALLGATHER, TensorShape=[2], TensorDtypes=Float, TensorDeviceTypes=TensorOptions(dtype=float (default), device=cuda)).Collectives differ in the following aspects: \t Op type: ALLREDUCEvs ALLGATHER
C|collective.desync|RuntimeError: ProcessGroupWrapper: Monitored Barrier encountered error running collective: CollectiveFingerPrint(SequenceNumber=41, OpType=ALLREDUCE, TensorShape=[2], TensorDtypes=Float, TensorDeviceTypes=TensorOptions(dtype=float (default), device=cuda)). Error: \n[Rank 0]: Rank 3 failed to pass monitoredBarrier in 60000 ms
C|rendezvous.timeout|RuntimeError: Timed out initializing process group in store based barrier on rank: 0, for key: store_based_barrier_key:1 (world_size=8, worker_count=6, timeout=0:30:00)
+|rendezvous.timeout|torch.distributed.DistStoreError: Timed out initializing process group in store based barrier on rank 0, for key: store_based_barrier_key:1 (world_size=8, num_workers_joined=6, timeout=0:30:00 error=x)
# store and sockets
RC?|network|[c10d] The client socket has failed to connect to [gpu-node-07]:29500 (errno: 113 - No route to host).
+|network|[c10d] The client socket has failed to connect to [10.0.0.7]:29500 (errno: 110 - Connection timed out).
RC?|context|[c10d] The IPv6 network addresses of (gpu-node-07, 29500) cannot be retrieved (gai error: -2 - Name or service not known).
RC?|network|torch.distributed.DistNetworkError: The client socket has failed to connect to any network address of (gpu-node-07, 29500). The client socket has failed to connect to gpu-node-07:29500 (errno: 111 - Connection refused).
RC?|network|torch.distributed.DistNetworkError: The client socket has timed out after 60000ms while trying to connect to (gpu-node-07, 29500).
+|network|RuntimeError: The client socket has timed out after 60s while trying to connect to (gpu-node-07, 29500).
RC?|network|[c10d] TCP client failed to connect/validate to host gpu-node-07:29500 - timed out (try=3, timeout=60000ms): Failed to recv, got 0 bytes
RC|network.port-in-use|[c10d] The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use).
+|network.port-in-use|RuntimeError: The server socket has failed to listen on any local network address. The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use).
RC|network.port-in-use|torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use
+|network.port-in-use|The server socket has failed to bind. port: 29500, useIpv6: 0, code: -98, name: EADDRINUSE, message: address already in use
RC?|harmless|Starting store with 2048 workers but somaxconn is 128.This might cause instability during bootstrap, consider increasing it.
C|rendezvous.timeout|torch.distributed.DistStoreError: Timed out after 301 seconds waiting for clients. 7/8 clients joined.
C|rendezvous.timeout|torch.distributed.DistStoreError: wait timeout after 600000ms, keys: /default_pg/0//cuda//0
C|rendezvous.timeout|RuntimeError: Socket Timeout
C|rendezvous.timeout|torch.distributed.DistStoreError: Wait timeout
+|rendezvous.timeout|torch.distributed.DistStoreError: Timeout waiting for key: default_pg/0/0 after 600000 ms
C|network.connection-reset|torch.distributed.DistNetworkError: failed to recv, got 0 bytes
+|network.connection-reset|torch.distributed.DistNetworkError: failed to send, sent 0 bytes
C|network.connection-reset|torch.distributed.DistNetworkError: Failed to recv, got 0 bytes. Connection was likely closed. Did the remote server shutdown or crash?
C|network.connection-reset|torch.distributed.DistNetworkError: Connection reset by peer
+|network.connection-reset|torch.distributed.DistNetworkError: Broken pipe
+|network.connection-refused|RuntimeError: Connection refused
C|harmless|[c10d] recvValue failed on SocketImpl(fd=3, addr=[localhost]:40314, remote=[localhost]:29500): Connection reset by peer
+|harmless|[c10d] sendBytes failed on SocketImpl(fd=3, addr=[localhost]:40314, remote=[localhost]:29500): Broken pipe
+|harmless|[c10d] recvVector failed on SocketImpl(fd=3, addr=[localhost]:40314, remote=[localhost]:29500): Failed to recv, got 0 bytes
+|harmless|[c10d] recvValueWithTimeout failed on SocketImpl(fd=3, addr=[localhost]:40314, remote=[localhost]:29500): Failed to recv, got 0 bytes
C||[c10d] waitForInput: poll for socket SocketImpl(fd=3, addr=[localhost]:40314, remote=[localhost]:29500) returned 0, likely a timeout
+||[c10d] waitForInput: socket SocketImpl(fd=3, addr=[localhost]:40314, remote=[localhost]:29500) timed out after 600000ms
RC?||TCPStoreMasterDaemon::run() failed with exception: Too many open files
RC?|harmless|[c10d] Miscellaneous client without VALIDATE query is detected
+|harmless|[c10d] Miscellaneous client with incorrect VALIDATE query is detected
RC|software.version-incompatible|torch.distributed.DistStoreError: use_libuv was requested but PyTorch was build without libuv support
+|software.version-incompatible|RuntimeError: use_libuv was requested but PyTorch was built without libuv support, run with USE_LIBUV=0 to disable it.
# torchelastic
C|process.terminated|Sending process 812914 closing signal SIGTERM
+|process.terminated|Closing process 812914 via signal SIGTERM
C|process.terminated|Unable to shutdown process 812914 via 15, forcefully exiting via 9
+|process.terminated|Unable to shutdown process 812914 via Signals.SIGTERM, forcefully exiting via Signals.SIGKILL
RC|process|failed (exitcode: -9) local_rank: 1 (pid: 4242) of binary: /opt/conda/bin/python
+|process|failed (exitcode: 1) local_rank: 0 (pid: 4242) of fn: train_loop (start_method: fork)
C|process.terminated|Received 15 death signal, shutting down workers
C|process.terminated|torch.distributed.elastic.multiprocessing.api.SignalException: Process 26529 got signal: 15
C||[default] Error waiting on exit barrier. Elapsed: 300.2 seconds
C|rendezvous.closed|The node 'gpu-node-07_4242_0' has failed to send a keep-alive heartbeat to the rendezvous 'job1' due to an error of type RendezvousConnectionError.
C|harmless|The node 'gpu-node-07_4242_0' has failed to shutdown the rendezvous 'job1' due to an error of type RendezvousConnectionError.
C|rendezvous|torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the C10d store has failed. See inner exception for details.
C|rendezvous.timeout|torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError
+|rendezvous.closed|torch.distributed.elastic.rendezvous.api.RendezvousClosedError
+|rendezvous.closed|torch.distributed.elastic.rendezvous.api.RendezvousGracefulExitError: The rendezvous 'job1' is closed, terminating pending rendezvous.
RC|rendezvous|torch.distributed.DistStoreError: Timed out waiting on barrier on rank 0, for key prefix: torchelastic/agent (world_size=4, missing_ranks=[2, 3], timeout=300)
C||Reaping worker_pid=[4242]. Expired timers: ['scope']
+||Successfully reaped worker=[4242] with signal=Signals.SIGKILL
# DDP and FSDP
RC|config.unused-parameters|RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that your module has parameters that were not used in producing loss. You can enable unused parameter detection by passing the keyword argument `find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by \nmaking sure all `forward` function outputs participate in calculating loss. \nParameter indices which did not receive grad for rank 3: 12 13
RC||RuntimeError: Expected to mark a variable ready only once. This error is caused by one of the following reasons: 1) Use of a module parameter outside the `forward` function. Please make sure model parameters are not shared across multiple concurrent forward-backward passes. 2) Reused parameters in multiple reentrant backward passes.\nParameter at index 41 with name layers.1.weight has been marked as ready twice.
RC|collective.shape-mismatch|RuntimeError: DDP expects same model across all ranks, but Rank 3 has 148 params, while rank 0 has inconsistent 150 params.
RC|collective.shape-mismatch|RuntimeError: [3]: params[4] in this process with sizes [4, 8] appears not to match sizes of the same param in process 0.
+|collective.shape-mismatch|RuntimeError: params[4] in this process with sizes [4, 8] appears not to match strides of the same param in process 0.
RC||RuntimeError: Your training graph has changed in this iteration, e.g., one parameter is unused in first iteration, but then got used in the second iteration. this is not compatible with static_graph set to True.
RC|data.uneven-inputs|RuntimeError: Detected at least one rank that exhausted inputs. Throwing across all ranks.
+|data.uneven-inputs|RuntimeError: Rank 3 exhausted all inputs.
+|data.uneven-inputs|/opt/torch/nn/parallel/distributed.py:1200: UserWarning: Detected uneven input skew of greater than 1000. This means that rank 3 has at least 1000 fewer inputs than other currently-active ranks.
RC||ValueError: Default process group has not been initialized, please make sure to call init_process_group.
+||ValueError: trying to initialize the default process group twice!
+||RuntimeError: No backend type associated with device type cpu
+||UserWarning: Running all_reduce on global rank 3 which does not belong to the given group.
+||ValueError: Tensors must be contiguous
+||RuntimeError: Split sizes doesn't match total dim 0 size
RC?|collective.desync|UserWarning: Forward order differs from that of the first iteration on rank 3. Collectives are unchecked and may give incorrect results or hang.
RC|collective.desync|RuntimeError: Forward order differs across ranks: rank 0 is all-gathering 4 parameters while rank 3 is all-gathering 2 parameters
+|collective.desync|RuntimeError: Forward order differs across ranks: rank 0 is all-gathering parameters for ['layers.0.weight'] while rank 3 is all-gathering parameters for ['layers.1.weight']
RC||AssertionError: FSDP does not support changing the parameters between forward and backward for weight
+||ValueError: Must flatten tensors with uniform dtype but got torch.float32 and torch.bfloat16
+||ValueError: Inconsistent compute device and `device_id` on rank 3: cuda:0 vs cuda:3
+||ValueError: The module has CPU parameters or buffers when `sync_module_states=True`, which requires them to be on GPU.
+||RuntimeError: Cannot writeback when the parameter shape changes\nExpects torch.Size([4]) but got torch.Size([8])
# CUDA memory
RC|memory.cuda-oom|RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 3; 79.15 GiB total capacity; 76.10 GiB already allocated; 12.75 MiB free; 77.01 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF
RC|memory.cuda-oom|torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 3 has a total capacty of 79.15 GiB of which 12.75 MiB is free. Process 1234 has 78.1 GiB memory in use. Of the allocated memory 76.10 GiB is allocated by PyTorch, and 512.00 MiB is reserved by PyTorch but unallocated.
RC|memory.cuda-oom|torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 3 has a total capacity of 79.15 GiB of which 12.75 MiB is free. Including non-PyTorch memory, this process has 78.1 GiB memory in use.
RC|memory.cuda-oom|torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 3 has a total capacity of 79.15 GiB of which 12.75 MiB is free. 70.00 GiB allowed; Of the allocated memory 76.10 GiB is allocated by PyTorch, with 1.20 GiB allocated in private pools (e.g., CUDA Graphs), and 512.00 MiB is reserved by PyTorch but unallocated.
+|memory.cuda-oom|RuntimeError: CUDA out of memory. Tried to allocate more than 1EB memory.
# CUDA runtime
RC|memory.cuda-oom|RuntimeError: CUDA error: out of memory
+|gpu.driver-mismatch|RuntimeError: CUDA error: initialization error
RC|config.world-size-mismatch|RuntimeError: CUDA error: invalid device ordinal
RC|gpu.driver-mismatch|RuntimeError: CUDA error: no CUDA-capable device is detected
+|gpu.driver-mismatch|RuntimeError: CUDA error: CUDA driver version is insufficient for CUDA runtime version
+|gpu.driver-mismatch|RuntimeError: CUDA error: system has unsupported display driver / cuda driver combination
+|gpu.nvlink|RuntimeError: CUDA error: system not yet initialized
+|gpu.xid|RuntimeError: CUDA error: unknown error
RC|gpu.in-use|RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable
+|gpu.in-use|RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable
RC|gpu.in-use|RuntimeError: CUDA error: exclusive-thread device already in use by a different thread
RC|gpu.device-assert|RuntimeError: CUDA error: device-side assert triggered
RC?|gpu.illegal-access|torch.AcceleratorError: CUDA error: an illegal memory access was encountered
RC?|gpu.illegal-access|RuntimeError: CUDA error: unspecified launch failure
RC|gpu.ecc|RuntimeError: CUDA error: uncorrectable ECC error encountered
RC|gpu.nvlink|RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution
+|gpu.nvlink|RuntimeError: CUDA error: Invalid access of peer GPU memory over nvlink or a hardware error
RC?|gpu.illegal-access|RuntimeError: CUDA error: misaligned address
+|gpu.illegal-access|RuntimeError: CUDA error: an illegal instruction was encountered
RC|gpu.xid|RuntimeError: CUDA error: the launch timed out and was terminated
RC|software.version-incompatible|RuntimeError: CUDA error: no kernel image is available for execution on the device
+|gpu.driver-mismatch|RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain.
+|software.version-incompatible|RuntimeError: CUDA error: a PTX JIT compilation failed
RC|process.exception|RuntimeError: CUDA error: too many resources requested for launch
+|process.exception|RuntimeError: CUDA error: invalid configuration argument
+|process.exception|RuntimeError: CUDA error: operation not permitted when stream is capturing
+|nccl.topology|RuntimeError: CUDA error: peer access is not supported between these two devices
RC|gpu.driver-mismatch|RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx
+|gpu.driver-mismatch|RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver by downloading and installing a new version
+|gpu.driver-mismatch|RuntimeError: No CUDA GPUs are available
+|gpu|RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 802: system not yet initialized
RC?|memory.cuda-oom|RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`
+|gpu.illegal-access|RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx( handle, opa, opb, m, n, k)`
+||RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED
"""
