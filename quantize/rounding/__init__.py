"""One weight matrix to codes and scales, by one of the algorithms; codes wait in memory, in a file or in the journal."""
