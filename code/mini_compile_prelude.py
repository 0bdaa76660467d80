"""What stands at the top of the C++: two small float types, and functions named as torch's.

libm's functions take one number. On x86-64 Linux, glibc's libmvec has each of them for 4, 8 or 16
numbers at once, with an error of at most 4 units in the last place; the attribute `simd` tells the
compiler so. Elsewhere the plain functions are called, one number at a time.
Source: https://sourceware.org/glibc/wiki/libmvec, c10/util/BFloat16.h, aten/src/ATen/native/cpu/.
"""
__all__ = ["PRELUDE"]

ONE = ("exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh "
       "atanh erf erfc")
TWO = "pow atan2"

TYPES = r"""
typedef uint16_t bfloat16;                           // the upper half of a float
typedef uint16_t half;
inline uint32_t bits_of(float x) { uint32_t bits; __builtin_memcpy(&bits, &x, 4); return bits; }
inline float float_of(uint32_t bits) { float x; __builtin_memcpy(&x, &bits, 4); return x; }

inline float from_bfloat16(bfloat16 x) { return float_of((uint32_t)x << 16); }
inline bfloat16 to_bfloat16(float x) {               // to nearest, ties to even
  const uint32_t bits = bits_of(x);
  return x != x ? 0x7fc0 : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}
inline float as_bfloat16(float x) { return from_bfloat16(to_bfloat16(x)); }

inline float from_half(half x) {                     // 5 bits of exponent become 8
  const uint32_t sign = (uint32_t)(x & 0x8000) << 16, special = (x & 0x7c00) == 0x7c00;
  const float size = float_of((uint32_t)(x & 0x7fff) << 13) * 0x1p112f;
  return float_of(sign | bits_of(size) | (special ? 0x7f800000 : 0));
}
inline half to_half(float x) {
  const uint32_t size = bits_of(x) & 0x7fffffff, sign = (bits_of(x) >> 16) & 0x8000;
  const uint32_t normal = (size - 0x38000000 + 0xfff + ((size >> 13) & 1)) >> 13;
  const uint32_t small = bits_of(float_of(size) + 0.5f) - 0x3f000000;    // the sum rounds
  const uint32_t large = x != x ? 0x7e00 : 0x7c00;
  return sign | (size >= 0x47800000 ? large : size < 0x38800000 ? small : normal);
}
inline float as_half(float x) { return from_half(to_half(x)); }

template <class T> struct Row {                      // values kept for a later sweep over the row
  T *data;
  explicit Row(int64_t n) : data((T *)__builtin_malloc(n * sizeof(T) + 1)) {}
  ~Row() { __builtin_free(data); }
  T &operator[](int64_t i) const { return data[i]; }
};
"""

FUNCTIONS = r"""
namespace f {
template <class T> constexpr T infinity() { return (T)__builtin_inf(); }
template <class T> constexpr T nan() { return (T)__builtin_nan(""); }
template <class T> constexpr T lowest() { return -infinity<T>(); }
template <class T> constexpr T highest() { return infinity<T>(); }
#define LIMITS(T, low, high) \
  template <> constexpr T lowest<T>() { return low; } \
  template <> constexpr T highest<T>() { return high; }
LIMITS(int64_t, INT64_MIN, INT64_MAX) LIMITS(int32_t, INT32_MIN, INT32_MAX)
LIMITS(int16_t, INT16_MIN, INT16_MAX) LIMITS(int8_t, INT8_MIN, INT8_MAX)
LIMITS(uint8_t, 0, UINT8_MAX) LIMITS(bool, false, true)

inline float sqrt(float x) { return __builtin_sqrtf(x); }
inline double sqrt(double x) { return __builtin_sqrt(x); }
inline float floor(float x) { return __builtin_floorf(x); }
inline double floor(double x) { return __builtin_floor(x); }
inline float ceil(float x) { return __builtin_ceilf(x); }
inline double ceil(double x) { return __builtin_ceil(x); }
inline float trunc(float x) { return __builtin_truncf(x); }
inline double trunc(double x) { return __builtin_trunc(x); }
inline float round(float x) { return __builtin_nearbyintf(x); }   // ties to even
inline double round(double x) { return __builtin_nearbyint(x); }
inline float fmod(float x, float y) { return __builtin_fmodf(x, y); }
inline double fmod(double x, double y) { return __builtin_fmod(x, y); }
inline float abs(float x) { return __builtin_fabsf(x); }
inline double abs(double x) { return __builtin_fabs(x); }
template <class T> inline T abs(T x) { return x < 0 ? -x : x; }
inline bool signbit(float x) { return bits_of(x) >> 31; }
inline bool signbit(double x) { return x < 0 || (x == 0 && 1 / x < 0); }
template <class T> inline bool signbit(T x) { return x < 0; }
template <class T> inline bool isnan(T x) { return x != x; }
inline bool isinf(float x) { return abs(x) == infinity<float>(); }
inline bool isinf(double x) { return abs(x) == infinity<double>(); }
template <class T> inline bool isinf(T) { return false; }
template <class T> inline T sign(T x) { return (x > 0) - (x < 0); }
template <class T> inline T relu(T x) { return x < 0 ? (T)0 : x; }      // NaN and -0.0 stay
template <class T> inline T at_least(T x, T low) { return x < low ? low : x; }
template <class T> inline T at_most(T x, T high) { return high < x ? high : x; }
template <class T> inline T maximum(T a, T b) { return a > b || a != a ? a : b; }   // NaN wins
template <class T> inline T minimum(T a, T b) { return a < b || a != a ? a : b; }

template <class T> inline T remainder(T a, T b) {    // has the sign of b
  const T rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
template <class T> inline T float_remainder(T a, T b) {
  const T rest = fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
inline float remainder(float a, float b) { return float_remainder(a, b); }
inline double remainder(double a, double b) { return float_remainder(a, b); }
template <class T> inline T floor_divide(T a, T b) {
  const T quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
template <class T> inline T as_is(T x) { return x; }
template <class T, class R> inline T float_floor_divide(T a, T b, R round) {   // rounds each step
  if (b == 0) return a / b;
  const T rest = fmod(a, b), exact = round(round(a - rest) / b);
  const T quotient = rest != 0 && (rest < 0) != (b < 0) ? round(exact - 1) : exact;
  const T down = floor(quotient);
  if (quotient == 0) return (T)__builtin_copysign(0, a / b);
  return round(quotient - down) > 0.5 ? down + 1 : down;
}
inline double floor_divide(double a, double b) { return float_floor_divide(a, b, as_is<double>); }
inline float floor_divide(float a, float b, float round(float) = as_is<float>) {
  return float_floor_divide(a, b, round);
}
}  // namespace f
"""


def of_libm(name, count=1):
    """The declaration for vectors, and the function of both floats in namespace f."""
    floats, doubles = ", ".join(["float"] * count), ", ".join(["double"] * count)
    names = ("x", "y")[:count]
    given = {kind: ", ".join(f"{kind} {one}" for one in names) for kind in ("float", "double")}
    passed = ", ".join(names)
    return (f'extern "C" {{ VECTOR float {name}f({floats}); VECTOR double {name}({doubles}); }}\n'
            f"namespace f {{\n"
            f"inline float {name}({given['float']}) {{ return ::{name}f({passed}); }}\n"
            f"inline double {name}({given['double']}) {{ return ::{name}({passed}); }}\n"
            f"}}\n")


MAXIMUM = "".join(
    f"#pragma omp declare reduction({name} : {kind} : omp_out = f::{name}(omp_out, omp_in)) \\\n"
    f"    initializer(omp_priv = f::{start}<{kind}>())\n"
    for name, start in (("maximum", "lowest"), ("minimum", "highest"))
    for kind in ("float", "double", "int64_t", "int32_t", "int16_t", "int8_t", "uint8_t", "bool"))

PRELUDE = (
    "#include <stdint.h>\n"      # C++'s <math.h> alone would take longer to read than all of this
    "#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)\n"
    '#define VECTOR __attribute__((simd("notinbranch"), const))\n'
    "#else\n#define VECTOR\n#endif\n"
    + "".join(of_libm(name) for name in ONE.split())
    + "".join(of_libm(name, 2) for name in TWO.split())
    + TYPES + FUNCTIONS + MAXIMUM)
