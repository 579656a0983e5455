/* The predicate of an SQL92 filter, as the instructions of sql92/program.py: the twin of the function that sql92/compiled.py
 * makes. What it cannot decide exactly as Python does, it leaves to Python; it reads nothing outside of what it is given,
 * whatever the instructions are, and ends, since they jump forwards only. */
#include "native.h"

#include <math.h>

#define INSTRUCTION 20
#define MOST_OPEN 200
#define LONG_NUMBER 64
#define EXACT_DIGITS 15 /* that a double holds as a whole number */

typedef enum { NO, UNKNOWN, YES, FAILS, ASKS } Result;

typedef enum {
    CONSTANT,
    IS_UNKNOWN,
    NOT,
    PUSH,
    AND,
    OR,
    POP,
    CONDITION,
    IS_MISSING,
    TEXT,
    INT,
    LONG,
    DOUBLE,
    BOOLEAN,
    LISTED,
    SEARCH,
    EQUAL,
    ORDER
} Operation;

typedef struct {
    uint8_t operation, operator, missing;
    uint16_t place, other;
    uint32_t size; /* of what follows it, or how far it jumps */
    int64_t number;
} Instruction;

static Instruction read_instruction(const uint8_t *at)
{
    return (Instruction){at[0], at[1], at[2], get16(at + 4), get16(at + 6), get32(at + 8), (int64_t)get64(at + 12)};
}

static int is_equal(Span left, Span right)
{
    return left.size == right.size && memcmp(left.bytes, right.bytes, (size_t)left.size) == 0;
}

static int has_ascii(Span text)
{
    for (Py_ssize_t i = 0; i < text.size; i++)
        if (text.bytes[i] >= 0x80)
            return 0;
    return 1;
}

static Result result_of(int holds)
{
    return holds ? YES : NO;
}

/* The bits of an operator are: less, equal, more. */
static Result compared(uint8_t operator, int sign)
{
    return result_of(operator >> (sign + 1) & 1);
}

/* -- numbers in values ---------------------------------------------------------------------------------------------- */

/* Read an integer of up to `most`, or down to one below -`most`; return YES, FAILS or ASKS. */
static Result read_integer(Span text, uint64_t most, int64_t *number)
{
    const uint8_t *at = text.bytes, *end = at + text.size;
    uint64_t value = 0;
    if (text.size == 0 || text.size >= LONG_NUMBER)
        return ASKS;
    int is_negative = *at == '-', is_large = 0;
    at += is_negative || *at == '+';
    if (at == end)
        return FAILS;
    for (; at < end; at++) {
        uint8_t digit = (uint8_t)(*at - '0');
        if (digit > 9)
            return *at < 0x80 ? FAILS : ASKS;
        is_large |= value > (UINT64_MAX - 9) / 10;
        value = value * 10 + digit;
    }
    if (is_large || value > most + (uint64_t)is_negative)
        return FAILS;
    *number = (int64_t)(is_negative ? 0 - value : value);
    return YES;
}

static const uint8_t *skip_digits(const uint8_t *at, const uint8_t *end)
{
    while (at < end && (uint8_t)(*at - '0') <= 9)
        at++;
    return at;
}

/* Go past a decimal number; return where it ends, NULL if there is none. `point` is where its digits before one end. */
static const uint8_t *skip_decimal(const uint8_t *begin, const uint8_t *end, const uint8_t **point)
{
    const uint8_t *at = begin;
    at += at < end && (*at == '-' || *at == '+');
    const uint8_t *digits = at;
    *point = at = skip_digits(at, end);
    Py_ssize_t many = at - digits;
    if (at < end && *at == '.') {
        const uint8_t *fraction = ++at;
        at = skip_digits(at, end);
        many += at - fraction;
    }
    if (many == 0)
        return NULL;
    if (at < end && (*at == 'e' || *at == 'E')) {
        const uint8_t *exponent = at + 1;
        exponent += exponent < end && (*exponent == '-' || *exponent == '+');
        at = skip_digits(exponent, end);
        if (at == exponent)
            return NULL;
    }
    return at;
}

/* Read a usual decimal number, of any length below LONG_NUMBER; return YES or ASKS. */
static Result read_double(Span text, double *number)
{
    const uint8_t *at = text.bytes, *end = at + text.size, *point;
    char copied[LONG_NUMBER];
    if (text.size >= LONG_NUMBER)
        return ASKS;
    while (at < end && *at <= ' ')
        at++;
    while (at < end && end[-1] <= ' ')
        end--;
    const uint8_t *behind = skip_decimal(at, end, &point);
    if (behind == NULL)
        return ASKS;
    if (behind == end && point == end && end - at <= EXACT_DIGITS) {
        int64_t whole;
        Result read = read_integer((Span){at, end - at}, INT64_MAX, &whole);
        *number = *at == '-' ? -(double)-whole : (double)whole; /* -0 is not 0 */
        return read;
    }
    if (behind < end && memchr("fFdD", *behind, 4) != NULL)
        end--;
    if (behind != end)
        return ASKS;
    memcpy(copied, at, (size_t)(end - at));
    copied[end - at] = 0;
    *number = PyOS_string_to_double(copied, NULL, NULL);
    if (*number == -1.0 && PyErr_Occurred()) {
        PyErr_Clear(); /* Python says what is wrong */
        return ASKS;
    }
    return YES;
}

/* Compare as Java's Double, for numbers of read_double: -0 comes before 0. */
static int sign_of(double left, double right)
{
    int sign = (left > right) - (left < right);
    return sign == 0 && left == 0 ? (signbit(right) != 0) - (signbit(left) != 0) : sign;
}

/* -- comparisons ---------------------------------------------------------------------------------------------------- */

static Result compare_integer(const Instruction *each, Span value, uint64_t most)
{
    int64_t number;
    Result read = read_integer(value, most, &number);
    return read != YES ? read : compared(each->operator, (number > each->number) - (number < each->number));
}

static Result compare_double(const Instruction *each, Span value)
{
    double number, wanted;
    memcpy(&wanted, &each->number, sizeof wanted);
    Result read = read_double(value, &number);
    return read != YES ? read : compared(each->operator, (number > wanted) - (number < wanted));
}

static Result compare_boolean(const Instruction *each, Span value)
{
    static const char wanted[] = "true";
    if (!has_ascii(value))
        return ASKS;
    int is_true = value.size == 4;
    for (int i = 0; is_true && i < 4; i++)
        is_true = (value.bytes[i] | 0x20) == wanted[i];
    return result_of(is_true == (each->number != 0));
}

static Result find_listed(const Instruction *each, Span value, Span listed)
{
    while (listed.size >= 2) {
        Span text = {listed.bytes + 2, get16(listed.bytes)};
        if (text.size > listed.size - 2)
            return ASKS;
        if (is_equal(text, value))
            return result_of(each->number != 0);
        listed = (Span){text.bytes + text.size, listed.size - 2 - text.size};
    }
    return listed.size != 0 ? ASKS : result_of(each->number == 0);
}

static Result search(const Instruction *each, Span value, Span text)
{
    int found = text.size <= value.size;
    if (found && each->operator == 0)
        found = memmem(value.bytes, (size_t)value.size, text.bytes, (size_t)text.size) != NULL;
    else if (found)
        found = memcmp(each->operator == 1 ? value.bytes : value.bytes + value.size - text.size, text.bytes,
                       (size_t)text.size) == 0;
    return result_of(found == (each->number != 0));
}

/* Compare a property that is there with what stands behind its instruction. */
static Result decide(const Instruction *each, Span value, Span behind)
{
    switch (each->operation) {
    case CONDITION:
    case IS_MISSING:
        return NO;
    case TEXT:
        return result_of(is_equal(value, behind));
    case INT:
        return compare_integer(each, value, INT32_MAX);
    case LONG:
        return compare_integer(each, value, INT64_MAX);
    case DOUBLE:
        return compare_double(each, value);
    case BOOLEAN:
        return compare_boolean(each, value);
    case LISTED:
        return find_listed(each, value, behind);
    case SEARCH:
        return search(each, value, behind);
    default:
        return ASKS;
    }
}

static Result equal_properties(Span left, Span right)
{
    if (left.size == 0)
        return right.size == 0 ? YES : UNKNOWN;
    if (is_equal(left, right))
        return YES;
    return has_ascii(left) || has_ascii(right) ? NO : ASKS; /* bytes that are not UTF-8 may be equal as text */
}

static Result order_properties(const Instruction *each, Span left, Span right)
{
    double a, b;
    if (left.size == 0 || right.size == 0)
        return UNKNOWN;
    Result read = read_double(left, &a);
    if (read == YES)
        read = read_double(right, &b);
    return read == YES ? compared(each->operator, sign_of(a, b)) : read;
}

static Result test_properties(const Instruction *each, const Span *values, Py_ssize_t count, Span behind)
{
    if (each->place >= count || each->other >= count)
        return ASKS;
    Span value = values[each->place];
    if (each->operation == EQUAL)
        return equal_properties(value, values[each->other]);
    if (each->operation == ORDER)
        return order_properties(each, value, values[each->other]);
    return value.size > 0 ? decide(each, value, behind) : (Result)each->missing;
}

/* -- the instructions ----------------------------------------------------------------------------------------------- */

/* The results that AND and OR collect, the innermost last. */
typedef struct {
    Result open[MOST_OPEN];
    int many;
} Stack;

/* Take the result of an operand of AND or OR; return whether it decides. */
static int collect(Stack *stack, Operation operation, Result result)
{
    Result *so_far = &stack->open[stack->many - 1];
    if (operation == AND ? result < *so_far : result > *so_far)
        *so_far = result;
    return result == (operation == AND ? NO : YES);
}

/* Do what needs no property; return the result. `at` moves on by a jump. */
static Result step(const Instruction *each, Stack *stack, Result result, const uint8_t **at)
{
    switch (each->operation) {
    case CONSTANT:
        return (Result)each->operator;
    case IS_UNKNOWN:
        return result_of(result == UNKNOWN);
    case NOT:
        return (Result)(YES - result);
    case PUSH:
        if (stack->many == MOST_OPEN || each->operator > YES)
            return ASKS;
        stack->open[stack->many++] = (Result)each->operator;
        return result;
    default: /* AND, OR, POP */
        if (stack->many == 0)
            return ASKS;
        if (each->operation == POP)
            return stack->open[--stack->many];
        if (collect(stack, each->operation, result))
            *at += each->size;
        return result;
    }
}

int run_predicate(Span program, const Span *values, Py_ssize_t count)
{
    Stack stack;
    stack.many = 0;
    Result result = UNKNOWN;
    const uint8_t *at = program.bytes, *end = at + program.size;
    while (end - at >= INSTRUCTION) {
        Instruction each = read_instruction(at);
        at += INSTRUCTION;
        if ((int64_t)each.size > end - at)
            return PREDICATE_ASKS;
        if (each.operation < CONDITION) {
            result = step(&each, &stack, result, &at);
        } else {
            result = test_properties(&each, values, count, (Span){at, each.size});
            at += each.size;
        }
        if (result > YES)
            return result == FAILS ? 0 : PREDICATE_ASKS;
    }
    return at == end ? result == YES : PREDICATE_ASKS;
}
