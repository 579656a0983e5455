/* Keyed BLAKE2b of one piece (RFC 7693), as hashlib computes it. */
#include "native.h"

#define BLOCK 128
#define ROUNDS 12

static const uint64_t START[8] = {
    0x6A09E667F3BCC908u, 0xBB67AE8584CAA73Bu, 0x3C6EF372FE94F82Bu, 0xA54FF53A5F1D36F1u,
    0x510E527FADE682D1u, 0x9B05688C2B3E6C1Fu, 0x1F83D9ABFB41BD6Bu, 0x5BE0CD19137E2179u,
};

/* Which word of the block each step of a round takes; rounds 10 and 11 are rounds 0 and 1 again. */
static const uint8_t ORDER[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static inline uint64_t turned(uint64_t word, int bits)
{
    return word >> bits | word << (64 - bits);
}

static inline void mix(uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *d, uint64_t x, uint64_t y)
{
    *a += *b + x;
    *d = turned(*d ^ *a, 32);
    *c += *d;
    *b = turned(*b ^ *c, 24);
    *a += *b + y;
    *d = turned(*d ^ *a, 16);
    *c += *d;
    *b = turned(*b ^ *c, 63);
}

/* Take one block of little-endian words into the state; `total` is how many bytes it has taken then. */
static void take_block(uint64_t *state, const uint8_t *block, uint64_t total, int is_last)
{
    uint64_t m[16], v[16];
    memcpy(m, block, BLOCK);
    memcpy(v, state, 8 * sizeof *v);
    memcpy(v + 8, START, 8 * sizeof *v);
    v[12] ^= total;
    if (is_last)
        v[14] = ~v[14];
    for (int round = 0; round < ROUNDS; round++) {
        const uint8_t *s = ORDER[round % 10];
        mix(&v[0], &v[4], &v[8], &v[12], m[s[0]], m[s[1]]);
        mix(&v[1], &v[5], &v[9], &v[13], m[s[2]], m[s[3]]);
        mix(&v[2], &v[6], &v[10], &v[14], m[s[4]], m[s[5]]);
        mix(&v[3], &v[7], &v[11], &v[15], m[s[6]], m[s[7]]);
        mix(&v[0], &v[5], &v[10], &v[15], m[s[8]], m[s[9]]);
        mix(&v[1], &v[6], &v[11], &v[12], m[s[10]], m[s[11]]);
        mix(&v[2], &v[7], &v[8], &v[13], m[s[12]], m[s[13]]);
        mix(&v[3], &v[4], &v[9], &v[14], m[s[14]], m[s[15]]);
    }
    for (int i = 0; i < 8; i++)
        state[i] ^= v[i] ^ v[i + 8];
}

int read_signing_key(PyObject *object, SigningKey *key)
{
    if (!PyBytes_Check(object) || PyBytes_GET_SIZE(object) < 1 || PyBytes_GET_SIZE(object) > 64) {
        PyErr_SetString(PyExc_TypeError, "a key is 1 to 64 bytes");
        return -1;
    }
    Py_ssize_t size = PyBytes_GET_SIZE(object);
    uint8_t block[BLOCK] = {0};
    memcpy(block, PyBytes_AS_STRING(object), (size_t)size);
    memcpy(key->state, START, sizeof START);
    key->state[0] ^= 0x01010000u ^ (uint64_t)size << 8 ^ SIGNATURE_BYTES;
    take_block(key->state, block, BLOCK, 0);
    return 0;
}

void sign(const SigningKey *key, Span text, uint8_t *signature)
{
    uint64_t state[8], total = BLOCK;
    memcpy(state, key->state, sizeof state);
    const uint8_t *at = text.bytes;
    Py_ssize_t left = text.size;
    for (; left > BLOCK; left -= BLOCK, at += BLOCK)
        take_block(state, at, total += BLOCK, 0);
    uint8_t last[BLOCK] = {0};
    memcpy(last, at, (size_t)left);
    take_block(state, last, total + (uint64_t)left, 1);
    memcpy(signature, state, SIGNATURE_BYTES);
}
