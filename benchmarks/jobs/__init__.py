"""Simulator of distributed training jobs: seeded faults with physically right consequences, written as labelled cases."""
