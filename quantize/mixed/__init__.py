"""Mixed precision: how many bits each layer or activation gets, by what rounding costs at the outputs and what it saves."""
