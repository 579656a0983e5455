/* Many records of a segment at once: which are damaged, their heads side by side, where their parts are, and
 * columns of what is wanted of them; the twin of store/columns.py, `Records.find_damage`. */
#include "columns.h"

#define MAGIC_V1 0xDAA320A7u
#define MAGIC_V2 0xDAA320ABu
#define LEAST 91
#define HEAD 88
#define BORN_IPV6 0x10u
#define STORE_IPV6 0x20u
#define IPV6_EXTRA 12
/* How many records ahead memory is asked for, and how much of a record's end: usually that is its properties. */
#define AHEAD 4
#define TAIL 256
#define LINE 64

/* `Damage` of store/columns.py. */
enum { NONE, OUTSIDE, MAGIC, SIZE, PLACE, PARTS, QUEUE, OTHER_BODY };

typedef struct {
    const uint8_t *data;
    Py_ssize_t size;
    const uint8_t *topic; /* NULL: any */
    Py_ssize_t topic_size;
    int32_t queue_id;
} Scan;

/* Where the parts of records are, from the beginning of the data: four columns of numbers. */
enum { BODY_AT, BODY_SIZE, PROPERTIES_AT, PROPERTIES_SIZE, PARTS_OF_RECORD };

/* Copy a head as it would be with two IPv4 hosts; return how many bytes later than that the body begins. */
static Py_ssize_t copy_head(const uint8_t *record, Py_ssize_t left, uint8_t *head)
{
    memcpy(head, record, HEAD);
    uint32_t flags = get32(record + 36);
    Py_ssize_t born = flags & BORN_IPV6 ? IPV6_EXTRA : 0, both = born + (flags & STORE_IPV6 ? IPV6_EXTRA : 0);
    if (both > 0 && left >= HEAD + both) {
        memcpy(head + 56, record + 56 + born, 8);
        memcpy(head + 72, record + 72 + both, 16);
    }
    return both;
}

/* Return what is wrong with the parts behind the head. */
static int check_parts(const Scan *scan, const uint8_t *head, const uint8_t *body, const uint8_t *end,
                       int32_t body_size, int64_t *parts)
{
    const uint8_t *topic = body + body_size + 1;
    Py_ssize_t topic_size = (int8_t)topic[-1];
    if (get32(head + 4) == MAGIC_V2) {
        topic_size = (int16_t)get16(topic - 1);
        topic++;
    }
    if (topic_size < 0 || topic_size > end - 2 - topic)
        return PARTS;
    Py_ssize_t properties = (int16_t)get16(topic + topic_size);
    if (properties < 0 || properties != end - topic - topic_size - 2)
        return PARTS;
    if (scan->topic != NULL &&
        ((int32_t)get32(head + 12) != scan->queue_id || topic_size != scan->topic_size ||
         memcmp(topic, scan->topic, (size_t)topic_size) != 0))
        return QUEUE;
    parts[BODY_AT] = body - scan->data;
    parts[BODY_SIZE] = body_size;
    parts[PROPERTIES_AT] = topic + topic_size + 2 - scan->data;
    parts[PROPERTIES_SIZE] = properties;
    return NONE;
}

static int check_record(const Scan *scan, int64_t at, const int64_t *size, const int64_t *log_offset,
                        const int64_t *queue_offset, uint8_t *head, int64_t *parts)
{
    if (at < 0 || at > scan->size - LEAST)
        return OUTSIDE;
    const uint8_t *record = scan->data + at;
    Py_ssize_t left = scan->size - (Py_ssize_t)at, shift = copy_head(record, left, head);
    uint32_t magic = get32(record + 4);
    if (magic != MAGIC_V1 && magic != MAGIC_V2)
        return MAGIC;
    int32_t total = (int32_t)get32(record);
    if (total < LEAST || total > left || HEAD + shift > left)
        return OUTSIDE;
    int32_t body_size = (int32_t)get32(head + 84);
    if (body_size < 0 || HEAD + shift + (int64_t)body_size + 3 > total)
        return OUTSIDE;
    if (size != NULL && total != *size)
        return SIZE;
    if ((log_offset != NULL && (int64_t)get64(head + 28) != *log_offset) ||
        (queue_offset != NULL && (int64_t)get64(head + 20) != *queue_offset))
        return PLACE;
    return check_parts(scan, head, record + HEAD + shift, record + total, body_size, parts);
}

/* Ask for the memory of a record that is checked soon: its head, and its end if its size is known. Always inline: a
 * function that only asks has no effect for GCC, which leaves out the call. */
static inline __attribute__((always_inline)) void ask_for(const Scan *scan, int64_t at, const int64_t *size)
{
    if (at < 0 || at > scan->size - LEAST)
        return;
    const uint8_t *record = scan->data + at;
    __builtin_prefetch(record);
    __builtin_prefetch(record + HEAD);
    if (size == NULL || *size < LEAST || *size > scan->size - at)
        return;
    for (int64_t back = *size < TAIL ? *size : TAIL; back > 0; back -= LINE)
        __builtin_prefetch(record + *size - back);
    __builtin_prefetch(record + *size - 1);
}

static int has_sound_body(Span body, const uint8_t *head)
{
    return body.size == 0 || (crc32_of(body.bytes, (size_t)body.size) & 0x7FFFFFFF) == get32(head + 8);
}

/* Get int64 values, as many as wanted (-1: any number); `object` may be None. */
int read_numbers(PyObject *object, Py_buffer *buffer, Py_ssize_t wanted)
{
    buffer->obj = NULL;
    buffer->buf = NULL;
    if (object == Py_None)
        return 0;
    if (PyObject_GetBuffer(object, buffer, PyBUF_SIMPLE) < 0)
        return -1;
    if (buffer->len % 8 == 0 && (wanted < 0 || buffer->len == 8 * wanted))
        return 0;
    PyErr_SetString(PyExc_ValueError, "there must be one int64 for each record");
    PyBuffer_Release(buffer);
    buffer->obj = NULL;
    return -1;
}

static int read_output(PyObject *object, Py_buffer *buffer, Py_ssize_t wanted)
{
    if (PyObject_GetBuffer(object, buffer, PyBUF_WRITABLE) < 0)
        return -1;
    if (buffer->len == wanted)
        return 0;
    PyErr_SetString(PyExc_ValueError, "there is no room for each record");
    PyBuffer_Release(buffer);
    buffer->obj = NULL;
    return -1;
}

/* Return how many bytes the columns of all records have at most, as far as it is known; more is added as it comes. */
static Py_ssize_t most_bytes(const Scan *scan, const int64_t *sizes, Py_ssize_t records)
{
    if (sizes == NULL)
        return scan->size;
    int64_t bytes = 0;
    for (Py_ssize_t i = 0; i < records; i++)
        bytes += sizes[i] > 0 && bytes < scan->size ? sizes[i] : 0;
    return bytes < scan->size ? (Py_ssize_t)bytes : scan->size;
}

/* Do with body and properties of a sound record what is wanted; `decoded` is NULL if nothing is to be made of them.
 * Return as `decode_text`, also 0 for another body, which is damage. */
static int use_parts(const Scan *scan, int32_t wants, const int64_t *parts, const uint8_t *head, Py_ssize_t row,
                     uint8_t *damage, Decoded *decoded)
{
    Span body = {scan->data + parts[BODY_AT], (Py_ssize_t)parts[BODY_SIZE]};
    if (wants & CHECK_BODIES && !has_sound_body(body, head)) {
        *damage = OTHER_BODY;
        return 0;
    }
    if (decoded != NULL && wants & BODY && add_to(&decoded->body, body) < 0)
        return -1;
    if (decoded == NULL || (wants & ~(CHECK_BODIES | BODY)) == 0)
        return 1;
    Span text = {scan->data + parts[PROPERTIES_AT], (Py_ssize_t)parts[PROPERTIES_SIZE]};
    return decode_text(decoded, row, text, scan->data + scan->size);
}

enum { DATA, POSITIONS, SIZES, LOG_OFFSETS, QUEUE_OFFSETS, HEADS, DAMAGES, PARTS_OF, BUFFERS };

/* Check all records; return -1 with an exception set, 0 if `decoded` is of no use, else 1. */
static int check_all(const Scan *scan, const Py_buffer *at, Py_ssize_t records, int32_t wants, Decoded *decoded)
{
    uint8_t *heads = at[HEADS].buf, *damage = at[DAMAGES].buf;
    const int64_t *positions = at[POSITIONS].buf, *sizes = at[SIZES].buf;
    int64_t *parts = at[PARTS_OF].buf;
    for (Py_ssize_t i = 0; i < records; i++) {
        const int64_t *of[BUFFERS];
        int64_t found[PARTS_OF_RECORD] = {0};
        if (i + AHEAD < records)
            ask_for(scan, positions[i + AHEAD], sizes == NULL ? NULL : sizes + i + AHEAD);
        for (int each = SIZES; each <= QUEUE_OFFSETS; each++)
            of[each] = at[each].buf == NULL ? NULL : (const int64_t *)at[each].buf + i;
        damage[i] = (uint8_t)check_record(scan, positions[i], of[SIZES], of[LOG_OFFSETS], of[QUEUE_OFFSETS],
                                          heads + i * HEAD, found);
        for (int part = 0; part < PARTS_OF_RECORD; part++)
            parts[part * records + i] = found[part];
        int used = damage[i] == NONE ? use_parts(scan, wants, found, heads + i * HEAD, i, &damage[i], decoded) : 0;
        if (used < 0)
            return -1;
        decoded = used ? decoded : NULL;
    }
    return decoded != NULL;
}

/* check_records(data, positions, sizes, log_offsets, queue_offsets, topic, queue_id, wanted, heads, damage, parts) ->
 * the wanted columns, None if a record is damaged or odd */
PyObject *native_check_records(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Py_buffer at[BUFFERS] = {0};
    Scan scan = {0};
    int32_t wants;
    Decoded decoded = {0};
    PyObject *done = NULL;
    if (check_count(count, 11, "check_records") < 0 || as_int32(args[6], &scan.queue_id) < 0 ||
        as_int32(args[7], &wants) < 0)
        return NULL;
    if (args[5] != Py_None) {
        if (!PyBytes_Check(args[5])) {
            PyErr_SetString(PyExc_TypeError, "a topic is bytes");
            return NULL;
        }
        scan.topic = (const uint8_t *)PyBytes_AS_STRING(args[5]);
        scan.topic_size = PyBytes_GET_SIZE(args[5]);
    }
    if (PyObject_GetBuffer(args[0], &at[DATA], PyBUF_SIMPLE) < 0 || read_numbers(args[1], &at[POSITIONS], -1) < 0)
        goto end;
    scan.data = at[DATA].buf;
    scan.size = at[DATA].len;
    Py_ssize_t records = at[POSITIONS].len / 8;
    for (int each = SIZES; each <= QUEUE_OFFSETS; each++)
        if (read_numbers(args[each], &at[each], records) < 0)
            goto end;
    if (read_output(args[8], &at[HEADS], records * HEAD) < 0 || read_output(args[9], &at[DAMAGES], records) < 0 ||
        read_output(args[10], &at[PARTS_OF], records * PARTS_OF_RECORD * 8) < 0)
        goto end;
    int has_columns = (wants & ~CHECK_BODIES) != 0, all = -1;
    if (!has_columns || make_decoded(&decoded, wants, records, most_bytes(&scan, at[SIZES].buf, records)) == 0)
        all = check_all(&scan, at, records, wants, has_columns ? &decoded : NULL);
    if (all >= 0)
        done = all ? take_decoded(&decoded) : Py_NewRef(Py_None);
end:
    drop_decoded(&decoded);
    for (int each = 0; each < BUFFERS; each++)
        if (at[each].obj != NULL)
            PyBuffer_Release(&at[each]);
    return done;
}

/* find_records(data, begins) -> where records begin, as int64: `begins` are those of the answers that data joins */
PyObject *native_find_records(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Py_buffer data = {0}, begins = {0};
    PyObject *found = NULL;
    if (check_count(count, 2, "find_records") < 0 || PyObject_GetBuffer(args[0], &data, PyBUF_SIMPLE) < 0)
        return NULL;
    if (args[1] == Py_None)
        PyErr_SetString(PyExc_TypeError, "the begins of answers are numbers");
    else if (read_numbers(args[1], &begins, -1) == 0)
        found = PyBytes_FromStringAndSize(NULL, data.len / LEAST * 8);
    if (found != NULL) {
        Py_ssize_t answers = begins.len / 8, records = 0;
        const int64_t *at = begins.buf;
        int64_t *to = (int64_t *)PyBytes_AS_STRING(found), passed = 0;
        for (Py_ssize_t i = 0; i < answers; i++) {
            int64_t end = i + 1 < answers && at[i + 1] < data.len ? at[i + 1] : data.len;
            if (end < LEAST)
                continue;
            /* Never back: there is room for each record of the data only once. */
            int64_t next = at[i] > passed ? at[i] : passed;
            while (next <= end - LEAST) {
                int32_t size = (int32_t)get32((const uint8_t *)data.buf + next);
                if (size < LEAST || size > end - next)
                    break;
                to[records++] = next;
                passed = next += size;
            }
        }
        _PyBytes_Resize(&found, records * 8);
    }
    PyBuffer_Release(&data);
    if (begins.obj != NULL)
        PyBuffer_Release(&begins);
    return found;
}
