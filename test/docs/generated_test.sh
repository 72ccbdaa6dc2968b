#!/bin/bash
# docs/generated is what tools/dev/generate_docs.sh writes, and every
# definition of passes is among it.
set -eu
fresh="$TEST_TMPDIR/generated"
tools/dev/generate_docs.sh "$fresh"
diff -ru docs/generated "$fresh" || {
  echo "docs/generated is stale: run tools/dev/generate_docs.sh and commit it"
  exit 1
}
for td in $(find -L dialects passes lowering target -name Passes.td); do
  for pass in $(sed -n 's/.*: Pass<"\([^"]*\)".*/\1/p' "$td"); do
    grep -q -- "\`-$pass\`" docs/generated/*.md || {
      echo "$td: $pass is on no page; add it to tools/dev/generate_docs.sh"
      exit 1
    }
  done
done
