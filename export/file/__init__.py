"""Program -> the bytes of a .pte file, and back."""
