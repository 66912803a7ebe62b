/* logarithm: the classic reduction to [√½, √2) and the polynomial in s = f / (2 + f) of FreeBSD's
 * e_log, which Go uses.
 *
 * What must stay true: the order of operations, and no fused multiply-add (-ffp-contract=off). */
#include "scheduler/table/logarithm.h"

#include <math.h>

#define SQRT_HALF 7.07106781186547524401e-01
#define LN2_HIGH  6.93147180369123816490e-01
#define LN2_LOW   1.90821492927058770002e-10

double logarithm(double x)
{
    static const double odd[] = {6.666666666666735130e-01, 2.857142874366239149e-01,
                                 1.818357216161805012e-01, 1.479819860511658591e-01};
    static const double even[] = {3.999999999940941908e-01, 2.222219843214978396e-01,
                                  1.531383769920937332e-01};
    int exponent;
    double fraction = frexp(x, &exponent);
    if (fraction < SQRT_HALF) {
        fraction *= 2;
        exponent--;
    }
    double f = fraction - 1, k = exponent, s = f / (2 + f);
    double s2 = s * s, s4 = s2 * s2;
    double t1 = s2 * (odd[0] + s4 * (odd[1] + s4 * (odd[2] + s4 * odd[3])));
    double t2 = s4 * (even[0] + s4 * (even[1] + s4 * even[2]));
    double half = 0.5 * f * f;
    return k * LN2_HIGH - ((half - (s * (half + (t1 + t2)) + k * LN2_LOW)) - f);
}
