"""What the cases of the kernel suite have in common."""
