// Numbers that are added: those of C++, and complex ones. They are converted by casts.
#pragma once

template <class Part>
struct Complex {
  Part re, im;

  Complex() = default;
  template <class Real>
  __device__ __forceinline__ explicit Complex(Real x) : re(Part(x)), im(Part(0)) {}
  template <class Other>
  __device__ __forceinline__ explicit Complex(const Complex<Other>& x) : re(Part(x.re)), im(Part(x.im)) {}
};
template <class Part>
__device__ __forceinline__ Complex<Part> operator+(const Complex<Part>& a, const Complex<Part>& b) {
  Complex<Part> sum = a;
  sum.re += b.re, sum.im += b.im;
  return sum;
}
template <class Part>
__device__ __forceinline__ Complex<Part> operator*(const Complex<Part>& a, double b) {
  Complex<Part> product = a;
  product.re *= b, product.im *= b;
  return product;
}
template <class Part>
__device__ __forceinline__ Complex<Part> operator/(const Complex<Part>& a, double b) {
  Complex<Part> quotient = a;
  quotient.re /= b, quotient.im /= b;
  return quotient;
}
