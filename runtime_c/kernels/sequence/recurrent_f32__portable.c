/* The elementwise loops of lstm, gru and rnn in plain C: this file defines the bits. */
#define VARIANT pte_recurrent_f32__portable
#include "kernels/sequence/recurrent.inc"
