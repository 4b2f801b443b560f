#!/usr/bin/env bash
# Runs a command on real verbs where there is no RDMA hardware: boots a QEMU guest with Debian's own
# kernel, which has SoftRoCE (rdma_rxe), and runs this machine's programs in it.
#
#   guest.sh [-n DEVICES] [-c CPUS] [-m MIB] [-t SECONDS] -- COMMAND...
#   guest.sh -w FOLDER:NUMBER ...    on a wire with other guests
#   guest.sh -k                      only fetches the kernel
#
# The guest sees this machine's files; what it writes is lost with it. The command runs as root, in
# the current folder, with DEVICES (default 3) devices rxe0, rxe1, ..., whose addresses 10.9.0.1,
# 10.9.0.2, ... are in one Ethernet (veth pairs on a bridge). Exits with the command's status, with
# 124 after SECONDS (default 600), with 77, for "skipped", where no guest can be had.
#
# -w: instead of those it has one device, wire0, with the address 10.9.1.NUMBER; NUMBER is 1 or 2, and
# the other guest, with the same FOLDER, is at the other end.
#
# It has one processor unless told otherwise: where the machine below is busy, one of several stands
# still while another waits for it, or finds it dead; a single one stands still as a whole.
#
# Needs the packages of the section [softroce] of packages.txt. The kernel's package is downloaded
# once and unpacked, not installed, into ${XDG_CACHE_HOME:-~/.cache}/tutti/softroce.
set -euo pipefail

devices=3
cpus=1
memory=3072
limit=600
only_fetch=
wire=
while getopts n:c:m:t:w:k flag; do
  case $flag in
    n) devices=$OPTARG ;;
    c) cpus=$OPTARG ;;
    m) memory=$OPTARG ;;
    t) limit=$OPTARG ;;
    w) wire=$OPTARG ;;
    k) only_fetch=yes ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
if [[ ${1:-} == -- ]]; then shift; fi
if (($# == 0)) && [[ -z $only_fetch ]]; then
  echo "guest.sh: no command" >&2
  exit 2
fi

skip() {
  echo "SKIPPED: RDMA is NOT tested by this run, no SoftRoCE guest: $*" >&2
  exit 77
}

if [[ $(uname -m) != x86_64 ]]; then skip "the guest is x86-64, this machine is $(uname -m)"; fi
PATH=$PATH:/usr/sbin:/sbin
for program in qemu-system-x86_64 busybox cpio modprobe depmod dpkg ip; do
  if ! command -v "$program" >/dev/null; then skip "'$program' is not installed"; fi
done
if ldd "$(command -v busybox)" >/dev/null 2>&1; then skip "busybox is not busybox-static"; fi

# 1. The kernel. One process at a time fetches it.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tutti/softroce
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
if ! compgen -G "$cache/root/boot/vmlinuz-*" >/dev/null; then
  package=$(apt-cache depends linux-image-amd64 2>/dev/null |
    awk '/Depends:/ && !found { print $2; found = 1 }') || package=
  if [[ -z $package ]]; then skip "apt knows no package linux-image-amd64"; fi
  rm -rf "$cache/new"
  mkdir -p "$cache/new"
  if ! (cd "$cache/new" && apt-get download "$package" >/dev/null 2>&1); then
    skip "cannot download $package"
  fi
  dpkg -x "$cache/new/$package"_*.deb "$cache/new/root"
  kernel=$(compgen -G "$cache/new/root/boot/vmlinuz-*")
  depmod -b "$cache/new/root" "${kernel##*/vmlinuz-}"
  rm -rf "$cache/root"
  mv "$cache/new/root" "$cache/root"
  rm -rf "$cache/new"
fi
exec 9>&-
if [[ -n $only_fetch ]]; then exit 0; fi
kernel=$(compgen -G "$cache/root/boot/vmlinuz-*" | tail -n 1)
version=${kernel##*/vmlinuz-}

# 2. The initial file system: busybox, the modules in the order in which they need each other, and
# what to do.
network=(-nic none)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{root/{bin,modules,proc,sys,dev,host,mnt},out}
cp "$(command -v busybox)" "$work/root/bin/busybox"
for module in crc32_generic virtio_pci virtio_net 9p 9pnet_virtio overlay veth bridge sch_netem rdma_rxe \
  rdma_ucm; do
  modprobe -d "$cache/root" -S "$version" --show-depends "$module" |
    awk '$1 == "insmod" { print $2 }'
done | awk '!seen[$0]++' | while read -r file; do
  cp "$file" "$work/root/modules/"
  basename "$file" >>"$work/root/modules/order"
done
printf '%q ' "$@" >"$work/root/command"

cat >"$work/root/init" <<INIT
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc p /proc
mount -t sysfs s /sys
mount -t devtmpfs d /dev
echo # the firmware's last line has no end
for module in \$(cat /modules/order); do insmod /modules/\$module; done
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,ro,cache=loose host /host
mount -t tmpfs t /mnt
mkdir -p /mnt/upper /mnt/work /mnt/root
mount -t overlay -o lowerdir=/host,upperdir=/mnt/upper,workdir=/mnt/work o /mnt/root
cd /mnt/root
mkdir -p proc sys dev tmp guest-out
mount -t proc p proc
mount -t sysfs s sys
mount -t devtmpfs d dev
mkdir -p dev/shm dev/pts
mount -t tmpfs t dev/shm
mount -t devpts p dev/pts
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 out guest-out
cp /command .guest-command
cp /run .guest-run
chroot . /bin/bash /.guest-run
echo \$? >guest-out/status
sync
poweroff -f
INIT
chmod +x "$work/root/init"

cat >"$work/root/run" <<RUN
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
ulimit -l unlimited
ip link set lo up
ip link add lan type bridge
ip link set lan up
for i in \$(seq 1 $devices); do
  # 4200 bytes make room for RDMA's largest packet, 4096, and its headers.
  ip link add v\$i mtu 4200 type veth peer name p\$i mtu 4200
  ip link set p\$i master lan up
  ip addr add 10.9.0.\$i/24 dev v\$i
  ip link set v\$i up
  sysctl -qw net.ipv4.conf.v\$i.accept_local=1 net.ipv4.conf.v\$i.rp_filter=0
  rdma link add rxe\$((i - 1)) type rxe netdev v\$i
done
sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.all.accept_local=1
# Only who has an address answers for it, not the bridge, which has none.
sysctl -qw net.ipv4.conf.all.arp_ignore=1
# The kernel would send from one of its addresses to another through lo, where RoCE does not look:
# each device's packets go out of it, but those to itself.
ip rule add pref 200 lookup local
ip rule del pref 0
for i in \$(seq 1 $devices); do
  ip rule add pref \$((100 + i)) iif lo from 10.9.0.\$i to 10.9.0.0/24 lookup \$((100 + i))
  ip route add throw 10.9.0.\$i table \$((100 + i))
  ip route add 10.9.0.0/24 dev v\$i table \$((100 + i))
done
cd $(printf '%q' "$PWD")
eval "\$(cat /.guest-command)"
RUN
if [[ -n $wire ]]; then
  number=${wire##*:}
  mac=52:54:00:00:00:0$number
  network=(-netdev "dgram,id=w,local.type=unix,local.path=${wire%:*}/$number" \
    -device "virtio-net-pci,netdev=w,mac=$mac,romfile=")
  network[1]+=",remote.type=unix,remote.path=${wire%:*}/$((3 - number))"
  cat >"$work/root/run" <<RUN
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
ulimit -l unlimited
ip link set lo up
ip addr add 10.9.1.$number/24 dev eth0
ip link set eth0 up
rdma link add wire0 type rxe netdev eth0
cd $(printf '%q' "$PWD")
eval "\$(cat /.guest-command)"
RUN
fi
(cd "$work/root" && find . | cpio -o -H newc 2>/dev/null | gzip -1) >"$work/initrd.gz"

# 3. The guest. Its last word is the status; what it says in between is the console's.
timeout --foreground "$limit" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp "$cpus" -m "$memory" \
  -kernel "$kernel" -initrd "$work/initrd.gz" \
  -append "console=ttyS0 quiet panic=-1 random.trust_cpu=1" \
  -nographic -no-reboot "${network[@]}" \
  -fsdev local,id=h,path=/,security_model=none,readonly=on,multidevs=remap \
  -device virtio-9p-pci,fsdev=h,mount_tag=host \
  -fsdev local,id=o,path="$work/out",security_model=none \
  -device virtio-9p-pci,fsdev=o,mount_tag=out </dev/null 2>/dev/null |
  sed -u $'s/\r$//; /SeaBIOS/d; /Booting from ROM/d; s/\x1b[c[][^a-zA-Z]*[a-zA-Z]//g' || true
if [[ ! -s $work/out/status ]]; then
  echo "guest.sh: the guest did not end within $limit s" >&2
  exit 124
fi
exit "$(cat "$work/out/status")"
