/* Hides vector instructions of an x86-64 processor from a program on Linux: CPUID faults, and this library answers it.
 *
 *     cc -O2 -shared -fPIC -o masked_cpuid.so masked_cpuid.c
 *     MASKED_CPUID=vnni LD_PRELOAD=./masked_cpuid.so PROGRAM       without AVX512_VNNI and AVX_VNNI
 *     MASKED_CPUID=avx512 LD_PRELOAD=./masked_cpuid.so PROGRAM     without AVX-512 as well
 *
 * A thread inherits from its parent that CPUID faults (arch_prctl, ARCH_SET_CPUID); exec ends it. The program exits with
 * status 99 where the processor or the kernel can't do that. Bits: Intel, Software Developer's Manual, CPUID leaf 7.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define ARCH_SET_CPUID 0x1012
#define BIT(n) (1u << (n))

static int hides_avx512;

static void answer(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const unsigned char *instruction = (const unsigned char *)registers[REG_RIP];
    unsigned leaf = registers[REG_RAX], subleaf = registers[REG_RCX], a, b, c, d;

    if (instruction[0] != 0x0f || instruction[1] != 0xa2) { /* a real fault: it comes again, and ends the program */
        signal(number, SIG_DFL);
        return;
    }
    syscall(SYS_arch_prctl, ARCH_SET_CPUID, 1);
    __cpuid_count(leaf, subleaf, a, b, c, d);
    syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0);
    if (leaf == 7 && subleaf == 0) {
        c &= ~BIT(11);                         /* AVX512_VNNI */
        d &= ~(BIT(22) | BIT(24) | BIT(25));   /* AMX */
        if (hides_avx512) {
            b &= ~(BIT(16) | BIT(17) | BIT(21) | BIT(26) | BIT(27) | BIT(28) | BIT(30) | BIT(31));
            c &= ~(BIT(1) | BIT(6) | BIT(12) | BIT(14));
            d &= ~(BIT(2) | BIT(3) | BIT(8) | BIT(23));
        }
    }
    if (leaf == 7 && subleaf == 1) {
        a &= ~(BIT(4) | BIT(5));               /* AVX_VNNI, AVX512_BF16 */
        d &= ~(BIT(4) | BIT(5) | BIT(10));     /* AVX_VNNI_INT8, AVX_NE_CONVERT, AVX_VNNI_INT16 */
    }
    registers[REG_RAX] = a;
    registers[REG_RBX] = b;
    registers[REG_RCX] = c;
    registers[REG_RDX] = d;
    registers[REG_RIP] += 2;
}

__attribute__((constructor)) static void begin(void)
{
    const char *hidden = getenv("MASKED_CPUID");
    struct sigaction action = {0};

    if (hidden == NULL)
        return;
    hides_avx512 = strcmp(hidden, "avx512") == 0;
    action.sa_sigaction = answer;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, NULL);
    if (syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0) != 0)
        _exit(99);
}
