#!/bin/bash
# What each task of `srun --ntasks-per-node=1 examples/hooks/srun_every_node.sh` runs: the node's logs stay on the node,
# its scan goes to the shared folder, and the first node that fails reports for all.
#   LOGS     where this node's ranks write (local disk)
#   SHARED   a folder that all nodes see
torchrun --log-dir "$LOGS" --redirects 3 train.py
status=$?
diagnose hook --exit-code "$status" --shared "$SHARED" "$LOGS"
exit "$status"
