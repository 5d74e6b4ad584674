#!/bin/bash
# Epilog= of slurm.conf (or a file in its epilog.d): runs as root on every node when a job ends there.
# A non-zero exit drains the node, a slow one holds it back, so: nothing on success, a hard limit, exit 0.
# Logs and the working directory belong to the user: they are read and written as the user, never as root.
[ "${SLURM_JOB_EXIT_CODE2:-0:0}" = "0:0" ] && exit 0
shared="${DIAGNOSE_SHARED:-/shared/diagnose}/$SLURM_JOB_USER"
runuser -u "$SLURM_JOB_USER" -- \
    timeout --kill-after=5 40 diagnose hook --budget 30 --shared "$shared"
exit 0
