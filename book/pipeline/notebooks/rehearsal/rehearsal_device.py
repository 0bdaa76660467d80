"""Loaded by torch when it is imported: names the device and gives it its module."""

import types


def load() -> None:
    """Register the device `rehearsal`, one of its kind."""
    import torch

    torch.utils.rename_privateuse1_backend("rehearsal")
    module = types.ModuleType("torch.rehearsal")
    module.is_available = lambda: True
    module.is_initialized = lambda: True
    module._is_in_bad_fork = lambda: False
    module.device_count = lambda: 1
    module.current_device = lambda: 0
    module.synchronize = lambda device=None: None
    # Random numbers are the CPU's: so is their state.
    module.get_rng_state = lambda device=None: torch.get_rng_state()
    module.set_rng_state = lambda state, device=None: torch.set_rng_state(state)
    module.manual_seed_all = lambda seed: None
    module.get_amp_supported_dtype = lambda: [torch.float16, torch.bfloat16]
    torch._register_device_module("rehearsal", module)
    import rehearsal_memory  # noqa: F401  its kernels are registered when it is loaded

    torch.utils.generate_methods_for_privateuse1_backend()
