/* What is derived from the log: units of consume queues, entries of index files; the twins of store/dispatcher.py and
 * store/index_file.py. */
#include "native.h"

#define UNIT 20
#define ENTRY 20
#define KEY 20
#define SLOT 4
#define HEADER 40
#define TRANSACTION_MASK 12
#define TRANSACTION_ROLLBACK 12

static int is_appended(PyObject *record)
{
    if (PyTuple_Check(record) && PyTuple_GET_SIZE(record) == APPENDED_FIELDS && PyUnicode_Check(PyTuple_GET_ITEM(record, APPENDED_TEXT)))
        return 1;
    PyErr_SetString(PyExc_TypeError, "an AppendedRecord has nine fields, one of them a text");
    return 0;
}

static int code_of(PyObject *record, int64_t *code)
{
    PyObject *own = PyTuple_GET_ITEM(record, APPENDED_TAGS_CODE);
    if (own != Py_None)
        return as_int64(own, code);
    Span text;
    Marks marks;
    uint32_t hash = 0;
    if (text_span(PyTuple_GET_ITEM(record, APPENDED_TEXT), &text) < 0)
        return -1;
    read_marks(text, &marks);
    if (hash_text(marks.tags, &hash) < 0)
        return -1;
    *code = (int32_t)hash;
    return 0;
}

/* pack_units(records) -> the units of these records, back to back */
PyObject *native_pack_units(PyObject *module, PyObject *records)
{
    if (!PyList_Check(records)) {
        PyErr_SetString(PyExc_TypeError, "pack_units takes a list");
        return NULL;
    }
    Py_ssize_t many = PyList_GET_SIZE(records);
    PyObject *units = PyBytes_FromStringAndSize(NULL, many * UNIT);
    if (units == NULL)
        return NULL;
    uint8_t *at = (uint8_t *)PyBytes_AS_STRING(units);
    for (Py_ssize_t i = 0; i < many; i++, at += UNIT) {
        PyObject *record = PyList_GET_ITEM(records, i);
        int64_t log_offset, code;
        int32_t size;
        if (!is_appended(record) || as_int64(PyTuple_GET_ITEM(record, APPENDED_LOG_OFFSET), &log_offset) < 0 ||
            as_int32(PyTuple_GET_ITEM(record, APPENDED_SIZE), &size) < 0 || code_of(record, &code) < 0) {
            Py_DECREF(units);
            return NULL;
        }
        put64(at, (uint64_t)log_offset);
        put32(at + 8, (uint32_t)size);
        put64(at + 12, (uint64_t)code);
    }
    return units;
}

/* -- keys ----------------------------------------------------------------------------------------------------------- */

typedef struct {
    PyObject *name;  /* the attribute of a queue that holds its topic */
    PyObject *queue; /* whose topic `topic` is the hash of */
    uint32_t topic;
    Keys keys;
} Hashing;

static int take_topic(Hashing *hashing, PyObject *queue)
{
    if (queue == hashing->queue)
        return 0;
    PyObject *topic = PyObject_GetAttr(queue, hashing->name);
    Span span;
    int failed = topic == NULL || text_span(topic, &span) < 0 || topic_hash(span, &hashing->topic) < 0;
    Py_XDECREF(topic);
    hashing->queue = failed ? NULL : queue;
    return failed ? -1 : 0;
}

static int hash_record(Hashing *hashing, PyObject *record, int64_t known)
{
    int64_t log_offset, store_time;
    int32_t sys_flag;
    Span text;
    Marks marks;
    if (!is_appended(record) || as_int64(PyTuple_GET_ITEM(record, APPENDED_LOG_OFFSET), &log_offset) < 0 ||
        as_int64(PyTuple_GET_ITEM(record, APPENDED_STORE_TIMESTAMP), &store_time) < 0 ||
        as_int32(PyTuple_GET_ITEM(record, APPENDED_SYS_FLAG), &sys_flag) < 0)
        return -1;
    if (log_offset < known || (sys_flag & TRANSACTION_MASK) == TRANSACTION_ROLLBACK)
        return 0;
    if (take_topic(hashing, PyTuple_GET_ITEM(record, APPENDED_QUEUE)) < 0 ||
        text_span(PyTuple_GET_ITEM(record, APPENDED_TEXT), &text) < 0)
        return -1;
    read_marks(text, &marks);
    return add_keys(&hashing->keys, hashing->topic, &marks, log_offset, store_time);
}

/* hash_keys(records, known) -> the keys of the records from log offset known on, back to back */
PyObject *native_hash_keys(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    int64_t known;
    if (check_count(count, 2, "hash_keys") < 0 || as_int64(args[1], &known) < 0)
        return NULL;
    if (!PyList_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "hash_keys takes a list");
        return NULL;
    }
    Hashing hashing = {.name = PyUnicode_InternFromString("topic")};
    int failed = hashing.name == NULL;
    for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(args[0]); i++)
        failed = hash_record(&hashing, PyList_GET_ITEM(args[0], i), known) < 0;
    Py_XDECREF(hashing.name);
    if (!failed)
        return take_keys(&hashing.keys);
    drop_keys(&hashing.keys);
    return NULL;
}

/* -- entries of an index file --------------------------------------------------------------------------------------- */

typedef struct {
    uint8_t *map;
    int64_t slots, entries_at, number, slots_used, begin_time, begin_log_offset;
} IndexFile;

static int32_t seconds_since(int64_t begin, int64_t time)
{
    if (begin <= 0 || time < begin)
        return 0;
    int64_t seconds = (time - begin) / 1000;
    return seconds > INT32_MAX ? INT32_MAX : (int32_t)seconds;
}

static int put_entry(IndexFile *file, const uint8_t *key)
{
    int32_t hash = (int32_t)get32(key);
    int64_t log_offset = (int64_t)get64(key + 4), store_time = (int64_t)get64(key + 12);
    if (hash < 0) {
        PyErr_SetString(PyExc_ValueError, "a hash is not negative");
        return -1;
    }
    uint8_t *slot = file->map + HEADER + hash % file->slots * SLOT;
    int64_t older = (int32_t)get32(slot);
    if (older <= 0 || older > file->number) {
        older = 0;
        file->slots_used++;
    }
    uint8_t *entry = file->map + file->entries_at + file->number * ENTRY;
    put32(entry, (uint32_t)hash);
    put64(entry + 4, (uint64_t)log_offset);
    put32(entry + 12, (uint32_t)seconds_since(file->begin_time, store_time));
    put32(entry + 16, (uint32_t)older);
    put32(slot, (uint32_t)file->number);
    if (file->number == 1) {
        file->begin_time = store_time;
        file->begin_log_offset = log_offset;
    }
    file->number++;
    return 0;
}

/* put_entries(map, slots, entries_at, number, slots_used, begin_time, begin_log_offset, keys)
 * -> (number, slots_used, begin_time, begin_log_offset) behind them */
PyObject *native_put_entries(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    IndexFile file;
    if (check_count(count, 8, "put_entries") < 0 || as_int64(args[1], &file.slots) < 0 ||
        as_int64(args[2], &file.entries_at) < 0 || as_int64(args[3], &file.number) < 0 ||
        as_int64(args[4], &file.slots_used) < 0 || as_int64(args[5], &file.begin_time) < 0 ||
        as_int64(args[6], &file.begin_log_offset) < 0)
        return NULL;
    if (!PyBytes_Check(args[7]) || PyBytes_GET_SIZE(args[7]) % KEY != 0) {
        PyErr_SetString(PyExc_TypeError, "put_entries takes keys of 20 bytes");
        return NULL;
    }
    Py_buffer map;
    if (PyObject_GetBuffer(args[0], &map, PyBUF_WRITABLE) < 0)
        return NULL;
    const uint8_t *keys = (const uint8_t *)PyBytes_AS_STRING(args[7]);
    Py_ssize_t many = PyBytes_GET_SIZE(args[7]) / KEY;
    file.map = map.buf;
    int failed = 0;
    if (file.slots < 1 || file.slots > map.len || file.entries_at != HEADER + file.slots * SLOT ||
        file.number < 0 || file.number > map.len ||
        file.entries_at + (file.number + many) * ENTRY > map.len) {
        PyErr_SetString(PyExc_ValueError, "the entries do not fit");
        failed = 1;
    }
    for (Py_ssize_t i = 0; !failed && i < many; i++)
        failed = put_entry(&file, keys + i * KEY) < 0;
    PyBuffer_Release(&map);
    if (failed)
        return NULL;
    return Py_BuildValue("LLLL", (long long)file.number, (long long)file.slots_used, (long long)file.begin_time,
                         (long long)file.begin_log_offset);
}
