# SPDX-License-Identifier: MIT
"""Tunables that make glibc choose the same code on every machine, so that Callgrind counts the same."""

# Turns off all that came after 2003. glibc ignores names that its version does not know.
HWCAPS = (
    "AVX512F AVX512VL AVX512BW AVX2 AVX AVX512F_Usable AVX2_Usable AVX_Usable AVX_Fast_Unaligned_Load ERMS FSRM RTM "
    "BMI1 BMI2 LZCNT MOVBE POPCNT SSE4_1 SSE4_2 SSSE3 Fast_Unaligned_Copy Fast_Copy_Backward Fast_Rep_String "
    "Prefer_No_VZEROUPPER").split()
TUNABLES = ":".join((
    "glibc.cpu.hwcaps=" + ",".join("-" + name for name in HWCAPS),
    "glibc.cpu.x86_data_cache_size=0x8000",
    "glibc.cpu.x86_shared_cache_size=0x100000",
    "glibc.cpu.x86_non_temporal_threshold=0xc0000",
    "glibc.cpu.x86_rep_movsb_threshold=0x10000000",
    "glibc.cpu.x86_rep_stosb_threshold=0x10000000",
))
