/* sin, cos, tan of any |x| beyond PTE_NEAR (math_f32.h), infinity or NaN, in f32. */
#ifndef PTE_MATH_FAR_H
#define PTE_MATH_FAR_H

float pte_sin_far(float x);
float pte_cos_far(float x);
float pte_tan_far(float x);

#endif
