/* Receipts of leases: the twins of gateway/data/receipts.py. */
#include "native.h"

#define SIGNATURE_TEXT (SIGNATURE_BYTES / 3 * 4)
#define HEAD "v3."
#define HEAD_SIZE 3
#define LONGEST 4096
#define FIXED_TAIL 12 /* offset and delivery count, before the message id */

/* Add the text of one receipt. */
int add_receipt(Growing *out, const SigningKey *key, Span portion, int64_t offset, uint32_t delivery_count, Span id)
{
    uint8_t tail[FIXED_TAIL + LONGEST_ID], signature[SIGNATURE_BYTES];
    put64(tail, (uint64_t)offset);
    put32(tail + 8, delivery_count);
    memcpy(tail + FIXED_TAIL, id.bytes, (size_t)id.size);
    if (add_text(out, HEAD) < 0)
        return -1;
    Py_ssize_t begin = out->size;
    if (add_span(out, portion) < 0 || add_text(out, ".") < 0 ||
        add_base64(out, (Span){tail, FIXED_TAIL + id.size}, 1) < 0)
        return -1;
    sign(key, (Span){out->bytes + begin, out->size - begin}, signature);
    return add_base64(out, (Span){signature, SIGNATURE_BYTES}, 1);
}

static int value_of(uint8_t letter)
{
    return letter >= 'A' && letter <= 'Z'   ? letter - 'A'
           : letter >= 'a' && letter <= 'z' ? letter - 'a' + 26
           : letter >= '0' && letter <= '9' ? letter - '0' + 52
           : letter == '-'                  ? 62
           : letter == '_'                  ? 63
                                            : -1;
}

/* Read the offset, which the first eleven letters of a tail hold. */
static int read_offset(Span tail, int64_t *offset)
{
    uint64_t found = 0;
    int last = 0;
    if (tail.size < 11)
        return 0;
    for (int i = 0; i < 11; i++) {
        if ((last = value_of(tail.bytes[i])) < 0)
            return 0;
        found = i < 10 ? found << 6 | (uint64_t)last : found << 4 | (uint64_t)last >> 2;
    }
    *offset = (int64_t)found;
    return 1;
}

/* Find portion and offset of one receipt; return 0 unless its signature is right. */
static int read_receipt(PyObject *text, const SigningKey *key, Span *portion, int64_t *offset, Growing *scratch)
{
    if (!PyUnicode_Check(text) || !PyUnicode_IS_COMPACT_ASCII(text))
        return 0;
    Span all = {PyUnicode_1BYTE_DATA(text), PyUnicode_GET_LENGTH(text)};
    if (all.size <= HEAD_SIZE + SIGNATURE_TEXT || all.size > LONGEST || memcmp(all.bytes, HEAD, HEAD_SIZE) != 0)
        return 0;
    Span sealed = {all.bytes + HEAD_SIZE, all.size - HEAD_SIZE - SIGNATURE_TEXT};
    uint8_t signature[SIGNATURE_BYTES], difference = 0;
    sign(key, sealed, signature);
    scratch->size = 0;
    if (add_base64(scratch, (Span){signature, SIGNATURE_BYTES}, 1) < 0)
        return -1;
    for (int i = 0; i < SIGNATURE_TEXT; i++) /* in the same time wherever they differ */
        difference |= scratch->bytes[i] ^ sealed.bytes[sealed.size + i];
    const uint8_t *point = memchr(sealed.bytes, '.', (size_t)sealed.size);
    if (difference != 0 || point == NULL)
        return 0;
    *portion = (Span){sealed.bytes, point - sealed.bytes};
    return read_offset((Span){point + 1, sealed.size - portion->size - 1}, offset);
}

/* Add a place and an offset to the group of a portion, which is a new one at the end if there is none. */
static int add_to_group(PyObject *groups, Span portion, int64_t offset, Py_ssize_t place)
{
    PyObject *group = NULL;
    for (Py_ssize_t i = PyList_GET_SIZE(groups) - 1; group == NULL && i >= 0; i--) {
        PyObject *each = PyList_GET_ITEM(groups, i), *name = PyTuple_GET_ITEM(each, 0);
        if (PyUnicode_GET_LENGTH(name) == portion.size &&
            memcmp(PyUnicode_1BYTE_DATA(name), portion.bytes, (size_t)portion.size) == 0)
            group = Py_NewRef(each);
    }
    if (group == NULL) {
        group = Py_BuildValue("(s#[][])", portion.bytes, portion.size);
        if (group == NULL || PyList_Append(groups, group) < 0) {
            Py_XDECREF(group);
            return -1;
        }
    }
    PyObject *number = PyLong_FromLongLong(offset), *at = PyLong_FromSsize_t(place);
    int failed = number == NULL || at == NULL || PyList_Append(PyTuple_GET_ITEM(group, 1), number) < 0 ||
                 PyList_Append(PyTuple_GET_ITEM(group, 2), at) < 0;
    Py_XDECREF(number);
    Py_XDECREF(at);
    Py_DECREF(group);
    return failed ? -1 : 0;
}

/* open_receipts(key, texts) -> [(portion, offsets, places)]; None if Python must look at one */
PyObject *native_open_receipts(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    SigningKey key;
    if (check_count(count, 2, "open_receipts") < 0 || read_signing_key(args[0], &key) < 0)
        return NULL;
    if (!PyList_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "receipts are a list");
        return NULL;
    }
    PyObject *groups = PyList_New(0);
    Growing scratch = {0};
    int sound = groups == NULL ? -1 : 1;
    for (Py_ssize_t place = 0; sound > 0 && place < PyList_GET_SIZE(args[1]); place++) {
        Span portion;
        int64_t offset;
        sound = read_receipt(PyList_GET_ITEM(args[1], place), &key, &portion, &offset, &scratch);
        if (sound > 0 && add_to_group(groups, portion, offset, place) < 0)
            sound = -1;
    }
    PyMem_Free(scratch.bytes);
    if (sound > 0)
        return groups;
    Py_XDECREF(groups);
    return sound < 0 ? NULL : Py_NewRef(Py_None);
}
