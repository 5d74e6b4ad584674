"""Names the one root cause of a failed or hung distributed training job from its logs."""
