#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# The guest's first process: runs /job/NAME for each line "NAME SECONDS" of /jobs, one after another, and
# says on the console how each ended. guest.py reads that.
/bin/busybox mkdir -p /proc /sys /dev /tmp /run /root /sbin /usr/bin /usr/sbin
/bin/busybox --install -s 2>/dev/null
[ -e /usr/bin/sh ] || ln -s /bin/sh /usr/bin/sh
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
chmod 1777 /tmp /dev/shm
ln -s /proc/self/fd /dev/fd
ip link set lo up
hostname guest
export HOME=/root PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
cpus=/sys/devices/system/cpu
echo "@@ kernel $(uname -r), CPUs online $(cat $cpus/online), possible $(cat $cpus/possible);" \
    "$(sed 's/.*reboot=panic//' /proc/cmdline)"

now() { cut -d. -f1 /proc/uptime; }
while read -r name seconds; do
    echo "@@ start $name"
    begin=$(now)
    timeout -s KILL "$seconds" "/job/$name" </dev/null 2>&1
    status=$?
    echo "@@ end $name $status $(($(now) - begin))"
done </jobs
echo "@@ done"
poweroff -f
