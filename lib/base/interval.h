/* interval.h - a value and the 95 % interval in which it lies */
#ifndef HRUN_BASE_INTERVAL_H
#define HRUN_BASE_INTERVAL_H

struct hrun_interval {
    double mid, low, high;      /* low <= mid <= high */
};

#endif
