#!/bin/sh
# A hook of `bench nightly`: tell people only of what is not good. Replace `mail` by what your team reads.
[ "$BENCH_VERDICT" = good ] || mail -s "bench: $BENCH_VERDICT" "${BENCH_MAIL_TO:?set it}" <"$BENCH_SUMMARY"
