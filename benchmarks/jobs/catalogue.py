"""All faults by name."""

from __future__ import annotations

from . import (
    faults_collective,
    faults_hardware,
    faults_healthy,
    faults_memory,
    faults_misfit,
    faults_network,
    faults_program,
    faults_ray,
    faults_scheduler,
    faults_storage,
)
from .fault import Fault

MODULES = (faults_memory, faults_program, faults_hardware, faults_storage, faults_collective, faults_network, faults_scheduler, faults_ray, faults_misfit, faults_healthy)
FAULTS: dict[str, Fault] = {fault.name: fault for module in MODULES for fault in module.FAULTS}

__all__ = ["FAULTS", "Fault"]
