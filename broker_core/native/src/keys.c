/* The keys of a message as an index file keeps them. */
#include "native.h"

#define KEY 20
#define AT_FIRST 64

int topic_hash(Span topic, uint32_t *hash)
{
    *hash = 0;
    if (hash_text(topic, hash) < 0)
        return -1;
    *hash = 31 * *hash + '#';
    return 0;
}

static uint8_t *next_key(Keys *keys)
{
    if (keys->size == keys->room) {
        size_t room = keys->room == 0 ? AT_FIRST * KEY : keys->room * 2;
        uint8_t *bytes = PyMem_Realloc(keys->bytes, room);
        if (bytes == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        keys->bytes = bytes;
        keys->room = room;
    }
    keys->size += KEY;
    return keys->bytes + keys->size - KEY;
}

static int add_key(Keys *keys, uint32_t topic, Span key, int64_t log_offset, int64_t store_time)
{
    uint32_t hash = topic;
    uint8_t *at;
    if (hash_text(key, &hash) < 0 || (at = next_key(keys)) == NULL)
        return -1;
    /* What Java's Math.abs makes of an int, and 0 where that overflows. */
    hash = hash == 0x80000000u ? 0 : hash > 0x80000000u ? 0u - hash : hash;
    put32(at, hash);
    put64(at + 4, (uint64_t)log_offset);
    put64(at + 12, (uint64_t)store_time);
    return 0;
}

int add_keys(Keys *keys, uint32_t topic, const Marks *marks, int64_t log_offset, int64_t store_time)
{
    if (marks->unique.size > 0 && add_key(keys, topic, marks->unique, log_offset, store_time) < 0)
        return -1;
    for (Span rest = marks->keys; rest.size > 0;) {
        const uint8_t *found = memchr(rest.bytes, ' ', (size_t)rest.size);
        Span key = {rest.bytes, found == NULL ? rest.size : found - rest.bytes};
        if (key.size > 0 && add_key(keys, topic, key, log_offset, store_time) < 0)
            return -1;
        Py_ssize_t gone = key.size + (found != NULL);
        rest.bytes += gone;
        rest.size -= gone;
    }
    return 0;
}

PyObject *take_keys(Keys *keys)
{
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)keys->bytes, (Py_ssize_t)keys->size);
    drop_keys(keys);
    return bytes;
}

void drop_keys(Keys *keys)
{
    PyMem_Free(keys->bytes);
    *keys = (Keys){0};
}
