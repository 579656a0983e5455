/* CRC-32 as zlib computes it, eight bytes a step by tables: zlib itself may not be there to link against. */
#include "native.h"

#define POLYNOMIAL 0xEDB88320u
#define STEP 8

static uint32_t tables[STEP][256];

static void __attribute__((constructor)) fill_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; bit++)
            value = value & 1 ? value >> 1 ^ POLYNOMIAL : value >> 1;
        tables[0][byte] = value;
    }
    for (int step = 1; step < STEP; step++)
        for (int byte = 0; byte < 256; byte++)
            tables[step][byte] = tables[step - 1][byte] >> 8 ^ tables[0][tables[step - 1][byte] & 0xFF];
}

static uint32_t by_tables(uint32_t crc, const uint8_t *at, size_t size)
{
    for (; size >= STEP; at += STEP, size -= STEP) {
        uint32_t low, high;
        memcpy(&low, at, 4);
        memcpy(&high, at + 4, 4);
        low ^= crc;
        crc = tables[7][low & 0xFF] ^ tables[6][low >> 8 & 0xFF] ^ tables[5][low >> 16 & 0xFF] ^ tables[4][low >> 24] ^
              tables[3][high & 0xFF] ^ tables[2][high >> 8 & 0xFF] ^ tables[1][high >> 16 & 0xFF] ^ tables[0][high >> 24];
    }
    while (size--)
        crc = crc >> 8 ^ tables[0][(crc ^ *at++) & 0xFF];
    return crc;
}

#if defined(__x86_64__)
#include <immintrin.h>

/* Folding by carry-less multiplication: V. Gopal and others, "Fast CRC Computation for Generic Polynomials Using
 * PCLMULQDQ Instruction", Intel 2009. Four registers of 16 bytes are carried on, then folded into one; its 16 bytes
 * have the same remainder as everything before them, so that the tables can finish. The constants are powers of x
 * modulo the polynomial, bits reversed: x^(512+64), x^512 for a step of 64 bytes and x^(128+64), x^128 for one of 16,
 * each times x^-32 and shifted by one bit as reversed products ask for. */
__attribute__((target("pclmul,sse4.1"))) static uint32_t by_folding(uint32_t crc, const uint8_t *at, size_t size)
{
    const __m128i by64 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
    const __m128i by16 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    __m128i lane[4];
    for (int i = 0; i < 4; i++)
        lane[i] = _mm_loadu_si128((const __m128i *)at + i);
    lane[0] = _mm_xor_si128(lane[0], _mm_cvtsi32_si128((int)crc));
    for (at += 64, size -= 64; size >= 64; at += 64, size -= 64)
        for (int i = 0; i < 4; i++) {
            __m128i low = _mm_clmulepi64_si128(lane[i], by64, 0x00);
            __m128i high = _mm_clmulepi64_si128(lane[i], by64, 0x11);
            lane[i] = _mm_xor_si128(_mm_xor_si128(low, high), _mm_loadu_si128((const __m128i *)at + i));
        }
    __m128i one = lane[0];
    for (int i = 1; i < 4; i++) {
        __m128i low = _mm_clmulepi64_si128(one, by16, 0x00);
        __m128i high = _mm_clmulepi64_si128(one, by16, 0x11);
        one = _mm_xor_si128(_mm_xor_si128(low, high), lane[i]);
    }
    for (; size >= 16; at += 16, size -= 16) {
        __m128i low = _mm_clmulepi64_si128(one, by16, 0x00);
        __m128i high = _mm_clmulepi64_si128(one, by16, 0x11);
        one = _mm_xor_si128(_mm_xor_si128(low, high), _mm_loadu_si128((const __m128i *)at));
    }
    uint8_t rest[16];
    _mm_storeu_si128((__m128i *)rest, one);
    return by_tables(by_tables(0, rest, sizeof rest), at, size);
}

/* The same with registers of 64 bytes, four of which take a step of 256. What is left of the last one goes on as bytes
 * that come first. */
#define WIDEST 256
__attribute__((target("avx512f,avx512bw,vpclmulqdq"))) static __m512i fold(__m512i lane, __m512i by, __m512i next)
{
    return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(lane, by, 0x00), _mm512_clmulepi64_epi128(lane, by, 0x11),
                                     next, 0x96);
}

__attribute__((target("avx512f,avx512bw,vpclmulqdq"))) static uint32_t by_wide_folding(uint32_t crc, const uint8_t *at,
                                                                                       size_t size)
{
    const __m512i by256 = _mm512_broadcast_i32x4(_mm_set_epi64x(0x1322d1430, 0x11542778a));
    const __m512i by64 = _mm512_broadcast_i32x4(_mm_set_epi64x(0x1c6e41596, 0x154442bd4));
    __m512i lane[4];
    for (int i = 0; i < 4; i++)
        lane[i] = _mm512_loadu_si512(at + 64 * i);
    lane[0] = _mm512_xor_si512(lane[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)crc)));
    for (at += WIDEST, size -= WIDEST; size >= WIDEST; at += WIDEST, size -= WIDEST)
        for (int i = 0; i < 4; i++)
            lane[i] = fold(lane[i], by256, _mm512_loadu_si512(at + 64 * i));
    __m512i one = lane[0];
    for (int i = 1; i < 4; i++)
        one = fold(one, by64, lane[i]);
    for (; size >= 64; at += 64, size -= 64)
        one = fold(one, by64, _mm512_loadu_si512(at));
    uint8_t rest[64 + 64];
    _mm512_storeu_si512(rest, one);
    memcpy(rest + 64, at, size);
    return by_folding(0, rest, 64 + size);
}

static uint32_t (*widest)(uint32_t crc, const uint8_t *at, size_t size);
static int folds;

static void __attribute__((constructor)) look_at_processor(void)
{
    __builtin_cpu_init();
    folds = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
    int is_wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
    widest = folds && is_wide && __builtin_cpu_supports("vpclmulqdq") ? by_wide_folding : by_folding;
}

uint32_t crc32_of(const uint8_t *bytes, size_t size)
{
    if (!folds || size < 128)
        return ~by_tables(~0u, bytes, size);
    return ~(size < WIDEST ? by_folding : widest)(~0u, bytes, size);
}
#else
uint32_t crc32_of(const uint8_t *bytes, size_t size)
{
    return ~by_tables(~0u, bytes, size);
}
#endif

PyObject *native_crc32(PyObject *module, PyObject *argument)
{
    Py_buffer data;
    if (PyObject_GetBuffer(argument, &data, PyBUF_SIMPLE) < 0)
        return NULL;
    uint32_t crc = crc32_of(data.buf, (size_t)data.len);
    PyBuffer_Release(&data);
    return PyLong_FromUnsignedLong(crc);
}
