/* Calls of kernels that came as machine code: the arguments are laid out in words, as a format says (pack.py).

   A kernel is `int32 kernel(int64 *words)`: it reads its arguments, writes its answer behind them, and returns 0 or -2,
   Numba's codes for an answer and for None. With the stable ABI one file serves every Python from 3.11 on. */

#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <stdint.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

enum { WORDS = 1024, FIELDS = 64 };

typedef int32_t (*Kernel)(int64_t *);
typedef struct { Kernel run; PyObject *arrays; const char *takes, *gives; } Entry;

/* The first fields of a NumPy array. */
typedef struct { PyObject_HEAD char *data; int axes; Py_ssize_t *shape, *strides; } Array;

/* The words of a format, or -1. */
static int count(const char *format) {
    int words = 0;
    for (; *format; format++) {
        if (strchr("bhiqBHIQ?fd", *format)) words++;
        else if (*format == 'A') words += 1 + 2 * (*++format - '0');
        else if (!strchr("NO()", *format)) return -1;
    }
    return words;
}

/* Write an argument to `words` and move past it; return the rest of the format, or NULL with an error set. */
static const char *lay_out(Entry *entry, const char *format, PyObject *given, int64_t **words) {
    switch (*format++) {
    case 'N':
        return format;
    case '?': {
        int value = PyObject_IsTrue(given);
        *(*words)++ = value;
        return value < 0 ? NULL : format;
    }
    case 'b': case 'h': case 'i': case 'q': case 'B': case 'H': case 'I': case 'Q': {
        PyObject *number = PyNumber_Long(given);
        if (!number) return NULL;
        *(*words)++ = (int64_t)PyLong_AsUnsignedLongLongMask(number);
        Py_DecRef(number);
        return PyErr_Occurred() ? NULL : format;
    }
    case 'f': case 'd': {
        double value = PyFloat_AsDouble(given);
        if (value == -1.0 && PyErr_Occurred()) return NULL;
        memcpy((*words)++, &value, sizeof value);
        return format;
    }
    case 'A': {
        int axes = *format++ - '0';
        Array *array = (Array *)given;
        if (!PyObject_TypeCheck(given, (PyTypeObject *)entry->arrays) || array->axes != axes) {
            PyErr_Format(PyExc_TypeError, "a kernel takes an array of %d axes, found %R", axes, given);
            return NULL;
        }
        *(*words)++ = (int64_t)(intptr_t)array->data;
        for (int i = 0; i < axes; i++) *(*words)++ = array->shape[i];
        for (int i = 0; i < axes; i++) *(*words)++ = array->strides[i];
        return format;
    }
    case 'O': { /* an operator: the numbers of its functions */
        PyObject *code = PyObject_GetAttrString(given, "code");
        PyObject *values = code ? PyObject_GetAttrString(code, "values") : NULL;
        const char *left = values ? lay_out(entry, format, values, words) : NULL;
        Py_DecRef(code);
        Py_DecRef(values);
        return left;
    }
    case '(':
        for (Py_ssize_t i = 0, size = PyTuple_Size(given);; i++) {
            if (*format == ')' && i == size) return format + 1;
            if (*format == ')' || i >= size) break;
            format = lay_out(entry, format, PyTuple_GetItem(given, i), words);
            if (!format) return NULL;
        }
    }
    if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "a kernel does not take %R", given);
    return NULL;
}

/* Return the answer of a format at `words`, and move both past it. */
static PyObject *answer(const char **format, int64_t **words) {
    switch (*(*format)++) {
    case 'N':
        return Py_NewRef(Py_None);
    case '?':
        return PyBool_FromLong((long)*(*words)++);
    case 'b': case 'h': case 'i': case 'q':
        return PyLong_FromLongLong(*(*words)++);
    case 'B': case 'H': case 'I': case 'Q':
        return PyLong_FromUnsignedLongLong((uint64_t)*(*words)++);
    case 'f': case 'd': {
        double value;
        memcpy(&value, (*words)++, sizeof value);
        return PyFloat_FromDouble(value);
    }
    case '(': {
        PyObject *fields[FIELDS], *made = NULL;
        Py_ssize_t size = 0;
        while (**format != ')' && size < FIELDS && (fields[size] = answer(format, words))) size++;
        if (**format == ')' && (made = PyTuple_New(size))) {
            (*format)++;
            for (Py_ssize_t i = 0; i < size; i++) PyTuple_SetItem(made, i, fields[i]);
        }
        return made;
    }
    }
    PyErr_SetString(PyExc_SystemError, "a kernel's answer has no such format");
    return NULL;
}

static PyObject *call(PyObject *self, PyObject *const *given, Py_ssize_t size) {
    Entry *entry = PyCapsule_GetPointer(self, NULL);
    if (!entry) return NULL;
    int64_t words[WORDS], *next = words;
    const char *format = entry->takes;
    for (Py_ssize_t i = 0; i < size; i++) {
        if (!*format) return PyErr_Format(PyExc_TypeError, "a kernel takes %zd arguments, found %zd", i, size);
        if (!(format = lay_out(entry, format, given[i], &next))) return NULL;
    }
    if (*format) return PyErr_Format(PyExc_TypeError, "a kernel takes more than %zd arguments", size);
    PyThreadState *thread = PyEval_SaveThread();
    int32_t status = entry->run(words);
    PyEval_RestoreThread(thread);
    if (status != 0 && status != -2) return PyErr_Format(PyExc_SystemError, "a kernel ended with status %d", status);
    format = entry->gives;
    return answer(&format, &next);
}

static PyMethodDef called = {"kernel", (PyCFunction)(void (*)(void))call, METH_FASTCALL, NULL};

static void release(PyObject *capsule) {
    Entry *entry = PyCapsule_GetPointer(capsule, NULL);
    Py_DecRef(entry->arrays);
    PyMem_Free(entry);
}

/* kernel(address, takes, gives, arrays): the caller of the kernel at an address; `arrays` is NumPy's array class. */
static PyObject *kernel(PyObject *self, PyObject *arguments) {
    unsigned long long address;
    const char *takes, *gives;
    PyObject *arrays;
    if (!PyArg_ParseTuple(arguments, "KssO", &address, &takes, &gives, &arrays)) return NULL;
    int taken = count(takes), given = count(gives);
    if (taken < 0 || given < 0 || taken + given > WORDS) return PyErr_Format(PyExc_ValueError, "no format: %s", takes);
    size_t first = strlen(takes) + 1, second = strlen(gives) + 1;
    Entry *entry = PyMem_Malloc(sizeof(Entry) + first + second);
    if (!entry) return PyErr_NoMemory();
    char *text = (char *)(entry + 1);
    memcpy(text, takes, first);
    memcpy(text + first, gives, second);
    *entry = (Entry){(Kernel)(uintptr_t)address, Py_NewRef(arrays), text, text + first};
    PyObject *capsule = PyCapsule_New(entry, NULL, release);
    PyObject *made = capsule ? PyCFunction_NewEx(&called, capsule, NULL) : NULL;
    Py_DecRef(capsule);
    return made;
}

/* level(): the level of this x86-64 processor, 1 to 4, as far as the system supports it; 0 on other architectures. */
static PyObject *level(PyObject *self, PyObject *none) {
    long found = 0;
#ifdef __x86_64__
    unsigned int leaves[3] = {1, 7, 0x80000001}, has[3][4] = {{0}}, saved = 0;
    for (int i = 0; i < 3; i++) __get_cpuid_count(leaves[i], 0, &has[i][0], &has[i][1], &has[i][2], &has[i][3]);
    if (has[0][2] >> 27 & 1) { /* the system can report which registers it saves */
        unsigned int high;
        __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    }
    enum {
        V2 = 1 << 0 | 1 << 9 | 1 << 13 | 1 << 19 | 1 << 20 | 1 << 23, /* SSE3, SSSE3, CX16, SSE4.1, SSE4.2, POPCNT */
        V3 = 1 << 12 | 1 << 22 | 1 << 28 | 1 << 29,                   /* FMA, MOVBE, AVX, F16C */
        V3_7 = 1 << 3 | 1 << 5 | 1 << 8,                              /* BMI, AVX2, BMI2 */
        LZCNT = 1 << 5
    };
    const unsigned int v4_7 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31; /* AVX-512 F, DQ, CD, BW, VL */
    int v2 = (has[0][2] & V2) == V2;
    int v3 = v2 && (has[0][2] & V3) == V3 && (has[1][1] & V3_7) == V3_7 && has[2][2] & LZCNT && (saved & 6) == 6;
    int v4 = v3 && (has[1][1] & v4_7) == v4_7 && (saved & 0xe6) == 0xe6;
    found = 1 + v2 + v3 + v4;
#endif
    return PyLong_FromLong(found);
}

static PyMethodDef methods[] = {
    {"kernel", kernel, METH_VARARGS, NULL}, {"level", level, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "call", NULL, 0, methods, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_call(void) { return PyModule_Create(&module); }
