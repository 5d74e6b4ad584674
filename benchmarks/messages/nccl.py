"""Message formats of NCCL; see the package for how to read a line."""

TABLE = r"""
# sockets and bootstrap
C|nccl.remote-error|node7:4242:4300 [3] misc/socket.cc:540 NCCL WARN Net : Connection closed by remote peer node8<51234>
C|nccl.remote-error|node7:4242:4300 [3] misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote peer node8<51234>
C|nccl|node7:4242:4300 [3] include/socket.h:409 NCCL WARN Net : Call to recv from 10.0.0.8<51234> failed : Connection reset by peer
C|nccl|node7:4242:4300 [3] misc/socket.cc:58 NCCL WARN socketProgressOpt: Call to recv from 10.0.0.8<51234> failed : Connection reset by peer
C|nccl|node7:4242:4300 [3] misc/socket.cc:58 NCCL WARN socketProgressOpt: Call to send 10.0.0.8<51234> failed : Broken pipe
+|nccl|node7:4242:4300 [3] os/linux.cc:58 NCCL WARN ncclOsSocketProgressOpt: Call to recv 10.0.0.8<51234> failed : Connection reset by peer
RC?||node7:4242:4300 [3] include/socket.h:403 NCCL WARN Net : Connect to 10.0.0.8<51234> failed : Connection refused
RC?||node7:4242:4300 [3] misc/socket.cc:480 NCCL WARN socketStartConnect: Connect to 10.0.0.8<51234> failed : Software caused connection abort
RC?||node7:4242:4300 [3] misc/socket.cc:480 NCCL WARN socketStartConnect: Connect to 10.0.0.8<51234> failed : No route to host
+||node7:4242:4300 [3] misc/socket.cc:480 NCCL WARN socketStartConnect: connect to 10.0.0.8<51234> failed : No route to host
RC?||node7:4242:4300 [3] misc/socket.cc:480 NCCL WARN socketStartConnect: exceeded retries (20000)
+||node7:4242:4300 [3] misc/socket.cc:480 NCCL WARN socketPollConnect: exceeded timeouts (3)
RC?||node7:4242:4300 [3] misc/socket.cc:480 NCCL WARN socketStartConnect: connect returned Connection timed out, exceeded error retry count (34)
+||node7:4242:4300 [3] misc/socket.cc:480 NCCL WARN socketPollConnect: connect to 10.0.0.8<51234> returned Connection timed out, exceeded error retry count after 34 attempts
RC?||node7:4242:4300 [3] misc/socket.cc:480 NCCL WARN socketPollConnect: Connect to 10.0.0.8<51234> returned 111(Connection refused) errno 115(Operation now in progress)
RC?||node7:4242:4300 [3] misc/socket.cc:480 NCCL WARN socketTryAccept: Accept failed: Too many open files
RC?||node7:4242:4300 [3] misc/socket.cc:480 NCCL WARN socketFinalizeAccept: wrong type 3 != 4
+||node7:4242:4300 [3] misc/socket.cc:480 NCCL WARN socketFinalizeAccept: wrong magic 5f3a != 9b000
RC|network.interface|node7:4242:4300 [3] misc/socket.cc:480 NCCL WARN Net : No interface found in the same subnet as remote address 10.0.0.8<51234>
RC|network.interface|node7:4242:4300 [3] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found
+|network.interface|node7:4242:4300 [3] transport/net_socket.cc:45 NCCL WARN NET/Socket : no interface found
+|network.interface|node7:4242:4300 [3] bootstrap.cc:45 NCCL WARN no device found matching ib9, verify NCCL_OOB_NET_IFNAME
RC|nccl.bootstrap|node7:4242:4300 [3] bootstrap.cc:45 NCCL WARN Invalid NCCL_COMM_ID, please use format: <ipv4>:<port> or [<ipv6>]:<port> or <hostname>:<port>
RC|nccl.version-mismatch|node7:4242:4300 [3] bootstrap.cc:141 NCCL WARN Message truncated : received 128 bytes instead of 256
RC|rendezvous.duplicate-rank|node7:4242:4300 [3] bootstrap.cc:282 NCCL WARN Bootstrap Root : rank 3 of 8 ranks has already checked in
+|nccl.bootstrap|node7:4242:4300 [3] bootstrap.cc:282 NCCL WARN Bootstrap Root : mismatch in rank count from procs 8 : 16
RC|collective.shape-mismatch|node7:4242:4300 [3] transport/net_socket.cc:510 NCCL WARN NET/Socket : peer 10.0.0.8<51234> message truncated : receiving 8192 bytes instead of 4096. If you believe your socket network is in a healthy state, there may be a mismatch in collective sizes or environment settings (e.g. NCCL_PROTO, NCCL_ALGO) between ranks
# init checks
RC|nccl.invalid-usage|node7:4242:4300 [3] init.cc:612 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 9b000
+||node7:4242:4300 [3] init.cc:612 NCCL WARN Multiple Ranks are using the same GPU/Partition. Set NCCL_MULTI_RANK_GPU_ENABLE=1 to allow it
RC|nccl.version-mismatch|node7:4242:4300 [3] init.cc:612 NCCL WARN Mismatched NCCL version detected : rank 3 version 22703 rank 0 version 22602
RC|nccl.invalid-usage|node7:4242:4300 [3] init.cc:612 NCCL WARN Invalid rank requested : 9/8
+|nccl.invalid-usage|node7:4242:4300 [3] init.cc:612 NCCL WARN rank 9 exceeds ndev=8
RC|nccl|node7:4242:4300 [3] init.cc:612 NCCL WARN Attempt to use communicator before the previous operation returned ncclSuccess
RC|nccl.topology|node7:4242:4300 [3] transport.cc:51 NCCL WARN No transport found for rank 3[9b000] -> rank 0[1b000]
RC|nccl.topology|node7:4242:4300 [3] graph/paths.cc:51 NCCL WARN P2P is disabled between NVLINK connected GPUs 1 and 0. This should not be the case given their connectivity, and is probably due to a hardware issue. If you still want to proceed, you can set NCCL_IGNORE_DISABLED_P2P=1.
RC||node7:4242:4300 [3] init.cc:612 NCCL WARN Failed to determine intra proc ranks rank 3 hostHash 9b000 pidHash 9b000 intraProcRank 0 intraProcRanks 1 intraProcRank0 3
# shared memory
RC|nccl.shm-exhausted|node7:4242:4300 [3] include/shm.h:48 NCCL WARN Call to posix_fallocate failed : No space left on device
RC|nccl.shm-exhausted|node7:4242:4300 [3] misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-8CQBDh to 33030532 bytes
RC|nccl.shm-exhausted|node7:4242:4300 [3] misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-8CQBDh to 33030532 bytes, error: No space left on device (28)
RC?|nccl|node7:4242:4300 [3] misc/shmutils.cc:72 NCCL WARN Error: Could not map /dev/shm/nccl-8CQBDh size 33030532, error: Cannot allocate memory (12)
+|nccl|node7:4242:4300 [3] misc/shmutils.cc:114 NCCL WARN Error while attaching to shared memory segment /dev/shm/nccl-8CQBDh (size 33030528), error: No such file or directory (2)
# CUDA and memory
RC?|nccl.system-error|node7:4242:4300 [3] enqueue.cc:120 NCCL WARN Cuda failure 'invalid argument'
+|memory.cuda-oom|node7:4242:4300 [3] transport/nvls.cc:120 NCCL WARN Cuda failure 2 'out of memory'
RC|memory.cuda-oom|node7:4242:4300 [3] include/alloc.h:120 NCCL WARN Failed to CUDA calloc 8388608 bytes
+||node7:4242:4300 [3] include/alloc.h:120 NCCL WARN Failed to malloc 8388608 bytes
RC|nccl.topology|node7:4242:4300 [3] transport/p2p.cc:120 NCCL WARN cudaIpcGetMemHandle failed : invalid argument
+|nccl.topology|node7:4242:4300 [3] transport/p2p.cc:120 NCCL WARN failed to peer with device 1(=1b000): 217 peer access is not supported between these two devices
RC|nccl.invalid-usage|node7:4242:4300 [3] misc/argcheck.cc:39 NCCL WARN AllReduce : sendbuff allocated on device 1 mismatchs with NCCL device 0
+|nccl.invalid-usage|node7:4242:4300 [3] misc/argcheck.cc:39 NCCL WARN Broadcast : invalid root 9 (root should be in the 0..8 range)
RC|gpu.nvlink|node7:4242:4300 [3] transport/nvls.cc:120 NCCL WARN Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152 : CUDA error 401 'the operation cannot be performed in the present state'.
RC||node7:4242:4300 [3] mnnvl.cc:60 NCCL WARN MNNVL (cliqueSize 8) is available but not working on this system. Check the IMEX channel configuration (/dev/nvidia-caps-imex-channels). Set NCCL_MNNVL_ENABLE=0 to ignore this issue.
# InfiniBand
RC?|nccl.ib-error|node7:4242:4300 [3] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.0.0.8<51234> with error 12, opcode 32616, len 0, vendor err 129
RC?|nccl.ib-error|node7:4242:4300 [3] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.0.0.8<51234> with status=12 opcode=0 len=0 vendor err 129 (Recv) localGid ::ffff:10.0.0.7 remoteGids::ffff:10.0.0.8
RC?|nccl.ib-error|node7:4242:4300 [3] transport/net_ib.cc:1295 NCCL WARN NET/IB: Got completion from peer 10.0.0.8<51234> with status=12 opcode=0 len=0 vendor err 129 (Recv) localGid ::ffff:10.0.0.7 remoteGids::ffff:10.0.0.8 hca mlx5_3
RC?|nccl.ib-error|[2026-11-20 10:00:00] node7:4242:4300 [3] transport/net_ib.cc:1295 NCCL WARN NET/IB: Got completion from peer 10.0.0.8<51234> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_RDMA_WRITE(1) reqSize=4096 vendor_err=129 req_type=Send localGid ::ffff:10.0.0.7 remoteGids::ffff:10.0.0.8 hca mlx5_3
RC?|nccl.ib-error|[2026-11-20 10:00:00] node7:4242:4300 [3] transport/net_ib/p2p.cc:1295 NCCL WARN NET/IB: Got completion from peer 10.0.0.8<51234> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_RDMA_WRITE(1) vendor_err=129 req_type=Send hca mlx5_3
RC|nccl.ib-error|node7:4242:4300 [3] transport/net_ib.cc:94 NCCL WARN NET/IB : Got async event : port error
+|nccl.ib-error|node7:4242:4300 [3] transport/net_ib.cc:94 NCCL WARN NET/IB : mlx5_3:1 Got async event : port error
+|nccl.ib-error|node7:4242:4300 [3] transport/net_ib.cc:94 NCCL WARN NET/IB : mlx5_3:1 async fatal event: local catastrophic error
RC|collective.shape-mismatch|node7:4242:4300 [3] transport/net_ib.cc:1200 NCCL WARN NET/IB : req 0/1 tag 9b peer 10.0.0.8<51234> collective mismatch error, local size 4096 remote size 8192
RC|nccl.ib-error|node7:4242:4300 [3] transport/net_ib.cc:94 NCCL WARN NET/IB : Unable to open device mlx5_3
+|nccl|node7:4242:4300 [3] misc/ibvwrap.cc:94 NCCL WARN Call to ibv_modify_qp failed with error No such device
+|nccl|node7:4242:4300 [3] misc/ibvwrap.cc:94 NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory
RC|nccl.ib-error|node7:4242:4300 [3] transport/net_ib.cc:94 NCCL WARN NET/IB : Attempted to connect incompatible devices: mlx5_0:1/IB and mlx5_1:1/RoCE. Try selecting NICs of only one link type using NCCL_IB_HCA
# proxy and others
C|nccl.remote-error|node7:4242:4300 [3] proxy.cc:1485 NCCL WARN [Proxy Service 3] Failed to execute operation Connect from rank 3, retcode 3
+|nccl.remote-error|node7:4242:4300 [3] proxy.cc:1485 NCCL WARN [Service thread] Error encountered progressing operation=Connect, res=3, closing connection
+||node7:4242:4300 [3] proxy.cc:1485 NCCL WARN Comm 0x55d766832200 is in abort state
C||node7:4242:4300 [3] group.cc:120 NCCL WARN ncclAsyncJobComplete: job 0x55d766832200 failed, job error 6
+||node7:4242:4300 [3] init.cc:120 NCCL WARN commReclaim: comm 0x55d766832200 (rank = 3) in abort, error 6
RC|nccl.invalid-usage|node7:4242:4300 [3] enqueue.cc:120 NCCL WARN Error : no algorithm/protocol available for function AllReduce with datatype ncclFloat32. NCCL_ALGO was set to NVLS.
RC|nccl|node7:4242:4300 [3] group.cc:120 NCCL WARN Trying to send to self without a matching recv
RC|nccl.topology|node7:4242:4300 [3] graph/xml.cc:120 NCCL WARN Could not open XML topology file /etc/nccl/topo.xml : No such file or directory
+|nccl.topology|node7:4242:4300 [3] graph/xml.cc:120 NCCL WARN XML Topology has wrong version 0, 1 needed
RC|nccl.system-error|node7:4242:4300 [3] misc/gdrwrap.cc:120 NCCL WARN gdr_pin_buffer(handle 0x55d766832200, buffer 9b000, size 4096) failed: 12
C|nccl|node7:4242:4300 [3] transport/net_ib.cc:94 NCCL WARN communicator encountered a fatal error (detected in ncclIbTest)
"""
