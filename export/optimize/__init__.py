"""Program -> Program, saving memory traffic and changing no bit: fuse, work in place, equal constants once."""
