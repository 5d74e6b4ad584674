"""PyTorch flight-recorder dumps: read without executing anything, reduced, and laid side by side."""
