/* What the files of the extension share. Its functions are the twins of Python functions, which say what they do, and
 * whose results they must equal byte for byte; see broker_core/native/README.md. */
#ifndef GANTRY_NATIVE_H
#define GANTRY_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define PAIR_END 0x02
#define NAME_END 0x01

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "only little-endian machines are served; others do the same in Python"
#endif

typedef struct {
    const uint8_t *bytes;
    Py_ssize_t size;
} Span;

static inline void put16(uint8_t *at, uint16_t value)
{
    value = __builtin_bswap16(value);
    memcpy(at, &value, 2);
}

static inline void put32(uint8_t *at, uint32_t value)
{
    value = __builtin_bswap32(value);
    memcpy(at, &value, 4);
}

static inline void put64(uint8_t *at, uint64_t value)
{
    value = __builtin_bswap64(value);
    memcpy(at, &value, 8);
}

static inline uint8_t *put_span(uint8_t *at, Span span)
{
    memcpy(at, span.bytes, (size_t)span.size);
    return at + span.size;
}

static inline uint16_t get16(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, 2);
    return __builtin_bswap16(value);
}

static inline uint32_t get32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, 4);
    return __builtin_bswap32(value);
}

static inline uint64_t get64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, 8);
    return __builtin_bswap64(value);
}

/* Make an instance of a named tuple class, without its items. */
static inline PyObject *new_tuple(PyTypeObject *kind, Py_ssize_t count)
{
    PyObject *made = kind->tp_alloc(kind, count);
#if PY_VERSION_HEX >= 0x030E0000
    if (made != NULL)
        ((PyTupleObject *)made)->ob_hash = -1; /* not computed yet; 0 would count as computed */
#endif
    return made;
}

/* crc32.c */
uint32_t crc32_of(const uint8_t *bytes, size_t size);
PyObject *native_crc32(PyObject *module, PyObject *argument);

/* numbers.c: -1 with an exception set when the object is no integer or does not fit. */
int as_int32(PyObject *object, int32_t *value);
int as_int64(PyObject *object, int64_t *value);
int check_count(Py_ssize_t given, Py_ssize_t wanted, const char *name);

/* frames.c */
PyObject *native_cut_frames(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* fields.c */
PyObject *native_decode_fields(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *native_encode_fields(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* header_read.c, header_write.c: `json_string_end` says where the string ends whose first byte is `at`, NULL for an
 * unusual one; `unescape_json` fills `out`, which has room for all of `raw`, and returns 0 for what is Python's turn. */
const uint8_t *json_string_end(const uint8_t *at, const uint8_t *end, int *has_escapes);
int unescape_json(Span raw, uint8_t *out, Py_ssize_t *size);
PyObject *native_decode_header(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *native_encode_frame_head(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* record.c */
#define LONGEST_PROPERTIES 32767

/* What the records of one request share; the hosts belong to the tuple it was read from. */
typedef struct {
    int64_t born_time, store_time, prepared;
    int32_t reconsume_times;
    Span born_host, store_host;
} Origin;

/* What a put takes: `Incoming` of store/incoming.py. */
enum {
    INCOMING_TOPIC,
    INCOMING_QUEUE_ID,
    INCOMING_BODY,
    INCOMING_TEXT,
    INCOMING_FLAG,
    INCOMING_SYS_FLAG,
    INCOMING_BORN_TIMESTAMP,
    INCOMING_BORN_HOST,
    INCOMING_STORE_TIMESTAMP,
    INCOMING_STORE_HOST,
    INCOMING_RECONSUME_TIMES,
    INCOMING_PREPARED_TRANSACTION_OFFSET,
    INCOMING_FIELDS
};

/* What a put gives: `AppendedRecord` of store/appended.py. */
enum {
    APPENDED_QUEUE,
    APPENDED_LOG_OFFSET,
    APPENDED_SIZE,
    APPENDED_QUEUE_OFFSET,
    APPENDED_STORE_TIMESTAMP,
    APPENDED_STORE_HOST,
    APPENDED_SYS_FLAG,
    APPENDED_TEXT,
    APPENDED_TAGS_CODE,
    APPENDED_FIELDS
};

typedef struct {
    Span topic, body, properties;
    int32_t queue_id, flag, sys_flag;
    int64_t queue_offset, log_offset;
} Record;

int read_incoming(PyObject *incoming, Record *record, Origin *origin);
int read_bytes(PyObject *object, Span *span);
int read_host(PyObject *object, Span *host);
PyObject *make_tuple(PyTypeObject *kind, PyObject *const *parts, Py_ssize_t count);
int64_t size_of(const Record *record, const Origin *origin);
void put_record(uint8_t *at, const Record *record, const Origin *origin, uint32_t size);
PyObject *native_write_record(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* batch.c */
uint8_t *put_hex(uint8_t *at, uint64_t value, int digits);
PyObject *native_batch_asks_for_nothing(PyObject *module, PyObject *body);
PyObject *native_measure_batch(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *native_write_batch(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *native_format_ids(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* text.c: what property text says for queue and index; empty where it says nothing. */
typedef struct {
    Span tags, unique, keys;
} Marks;

int text_span(PyObject *text, Span *span);
Span next_pair(Span *rest); /* cuts the first pair off, its separator too */
void read_marks(Span text, Marks *marks);
int check_utf8(Span text);
int text_asks_for_more(Span text);
int hash_text(Span text, uint32_t *hash);
int settle(Span text, Span pair, uint8_t *out, Py_ssize_t *size, int *waits);
PyObject *native_settle_text(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* sends.c */
PyObject *native_header_matches(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *native_put_sends(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* keys.c: index keys on their way into a file, 20 bytes each: hash, log offset, store time. */
typedef struct {
    uint8_t *bytes;
    size_t size, room;
} Keys;

int topic_hash(Span topic, uint32_t *hash);
int add_keys(Keys *keys, uint32_t topic, const Marks *marks, int64_t log_offset, int64_t store_time);
PyObject *take_keys(Keys *keys);
void drop_keys(Keys *keys);

/* derived.c */
PyObject *native_pack_units(PyObject *module, PyObject *records);
PyObject *native_hash_keys(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *native_put_entries(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* sending.c */
PyObject *native_format_properties(PyObject *module, PyObject *properties);
PyObject *native_encode_entries(PyObject *module, PyObject *entries);
PyObject *native_encode_plain(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* sync.c */
PyObject *native_sync_file(PyObject *module, PyObject *path);

/* syncer.c */
int add_syncer(PyObject *module);

/* message.c */
PyObject *native_decode_messages(PyObject *module, PyObject *const *args, Py_ssize_t count);

typedef struct {
    const uint8_t *record;
    uint32_t size;
    Span body, topic, properties;
} MessageParts;

int find_parts(const uint8_t *at, Py_ssize_t left, MessageParts *parts);

/* blake2b.c */
#define SIGNATURE_BYTES 18

/* The state after the key. */
typedef struct {
    uint64_t state[8];
} SigningKey;

int read_signing_key(PyObject *object, SigningKey *key);
void sign(const SigningKey *key, Span text, uint8_t *signature);

/* json.c: what is added grows; `bytes` is freed by PyMem_Free. All return -1 with an exception set if there is no
 * memory. */
typedef struct {
    uint8_t *bytes;
    Py_ssize_t size, room;
} Growing;

uint8_t *grow(Growing *out, Py_ssize_t size);
int add_span(Growing *out, Span span);
int add_text(Growing *out, const char *text);
int add_number(Growing *out, int64_t number);
int add_string(Growing *out, Span text);
int add_base64(Growing *out, Span data, int for_urls);
int is_plain_json(Span text);

/* receipts.c */
#define LONGEST_ID 255

int add_receipt(Growing *out, const SigningKey *key, Span portion, int64_t offset, uint32_t delivery_count, Span id);
PyObject *native_open_receipts(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* leased.c */
PyObject *native_write_leased(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* scan.c */
int read_numbers(PyObject *object, Py_buffer *buffer, Py_ssize_t wanted);
PyObject *native_check_records(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *native_find_records(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* columns.c */
PyObject *native_gather_spans(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *native_are_utf8(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *native_keep_freed_memory(PyObject *module, PyObject *argument);
PyObject *native_swap_field(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* properties.c */
PyObject *native_find_properties(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *native_split_pairs(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *native_split_words(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* predicate.c: say whether the values of properties pass, an empty one being missing; PREDICATE_ASKS for what is left to
 * Python. */
#define PREDICATE_ASKS 2

int run_predicate(Span program, const Span *values, Py_ssize_t count);

/* walk.c */
PyObject *native_walk_units(PyObject *module, PyObject *const *args, Py_ssize_t count);

#endif
