/* The elementwise loops of lstm, gru and rnn for AVX2 and FMA, compiled with -mavx2 -mfma. */
#define VARIANT pte_recurrent_f32__avx2
#include "kernels/sequence/recurrent.inc"
