# Counts instructions and allocations, for scripts that have set `directory` to a temporary directory.

# Hash tables use the same seed each time, so that two runs differ only in their rounds.
export SWIFT_DETERMINISTIC_HASHING=1

# Copies a program without its debug information, parts of which valgrind cannot read. Prints the path of the copy.
#   stripped PROGRAM
stripped() {
    strip --strip-debug -o "$directory/$(basename "$1")" "$1"
    echo "$directory/$(basename "$1")"
}

# Runs a program, and prints the number of instructions and of allocations. Its profile is $directory/profile, and the
# profile of the run before is $directory/profile-before.
#   measure PROGRAM [ARGUMENT…]
measure() {
    local profile=$directory/profile log=$directory/log
    if [[ -e $profile ]]; then mv "$profile" "$profile-before"; fi
    if ! timeout 600 valgrind --tool=callgrind --callgrind-out-file="$profile" "$@" >"$log" 2>&1; then
        cat "$log" >&2
        return 1
    fi
    # A profile has a line `cfn=(number) name` for each call from one function to another, followed by `calls=count …`.
    # The name is omitted after its first occurrence.
    awk '
        /^c?fn=/ {
            number = $1; sub(/^c?fn=/, "", number)
            if (NF > 1) names[number] = $2
            if (/^cfn=/) callee = names[number]
        }
        /^calls=/ && callee ~ /^(malloc|calloc|realloc|posix_memalign|aligned_alloc|memalign)$/ {
            sub(/^calls=/, "", $1); allocations += $1
        }
        /^(summary|totals):/ { instructions = $2 }
        END { if (instructions == 0) exit 1; print instructions, allocations + 0 }
    ' "$profile"
}

# A number of tenths as a decimal.
tenths() { echo "$(($1 / 10)).$(($1 % 10))"; }
