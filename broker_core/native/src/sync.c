/* The twin of `sync_file` in store/mapped_file.py. */
#include "native.h"
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#if defined(__APPLE__)
#define fdatasync fsync
#endif

static long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* sync_file(path) -> nanoseconds that the disk took for the file's data, 0 if there is no such file. Other threads run
 * meanwhile. Three calls to the system, and one wait for the interpreter: the loop's thread may hold it for
 * milliseconds each time, which do not count here. */
PyObject *native_sync_file(PyObject *module, PyObject *path)
{
    PyObject *encoded;
    if (!PyUnicode_FSConverter(path, &encoded))
        return NULL;
    const char *name = PyBytes_AS_STRING(encoded);
    int failure = 0;
    long long begin = now_ns();
    Py_BEGIN_ALLOW_THREADS;
    int descriptor = open(name, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) {
        failure = errno;
    } else {
        while (fdatasync(descriptor) < 0 && (failure = errno) == EINTR)
            failure = 0;
        close(descriptor);
    }
    begin = now_ns() - begin;
    Py_END_ALLOW_THREADS;
    Py_DECREF(encoded);
    if (failure == ENOENT)
        return PyLong_FromLong(0);
    if (failure != 0) {
        errno = failure;
        return PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path);
    }
    return PyLong_FromLongLong(begin);
}
