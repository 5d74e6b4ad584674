#!/bin/bash
#SBATCH --job-name=train --nodes=2 --ntasks-per-node=1 --output=logs/%x-%j.out
# One line in an sbatch script. The trap's last command does not become the job's status: bash keeps the one that it
# was leaving with, and `diagnose hook` exits 0 anyway.
trap 'diagnose hook --exit-code $? -o "logs/report-$SLURM_JOB_ID.md" logs/' EXIT

srun bash train.sh
