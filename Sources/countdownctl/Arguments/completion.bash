# shellcheck shell=bash
# What ArgumentParser's script for bash lacks, which it follows. The program fills the subcommands in.
#
# bash divides words at @, : and =, and leaves quotes as they are, so the words are read here before ArgumentParser's functions count
# them. bash replaces its second argument, the end of the word after its last break, so only that part is given back, quoted as
# it was begun; a mere list has the whole words.

# Sets word to a text without its quotes, and quote to the one that is still open; words get those before the last.
__countdownctl_read() {
    local char
    local -i at inside=0
    word=''
    for ((at = 0; at < ${#1}; at++)); do
        char="${1:at:1}"
        case "${quote}${char}" in
        [[:space:]])
            ((inside)) && words+=("${word}")
            word='' inside=0
            continue
            ;;
        \"\" | \'\') quote='' ;;
        \" | \') quote="${char}" ;;
        \'*) word+="${char}" ;;
        \\)
            ((++at))
            word+="${1:at:1}"
            ;;
        \"\\)
            [[ "${1:at+1:1}" = [\"\\\$\`] ]] && ((at++))
            word+="${1:at:1}"
            ;;
        *) word+="${char}" ;;
        esac
        inside=1
    done
}

__countdownctl_complete() {
    local -a words=() more=()
    local word='' quote=''
    __countdownctl_read "${COMP_LINE:0:COMP_POINT}"
    local -r whole="${word}" open="${quote}"
    __countdownctl_read "${2}"
    [[ "${whole}" = *"${word}" ]] || word="${whole}"
    local -r before="${whole%"${word}"}"
    read -ra more <<< "${COMP_LINE:COMP_POINT}"

    local -i COMP_CWORD="${#words[@]}"
    words+=("${whole}")
    local COMP_LINE="${words[*]}"
    local -i COMP_POINT="${#COMP_LINE}"
    local -a COMP_WORDS=("${words[@]}" "${more[@]}")
    if [[ "${words[1]}" = help ]]; then
        ((COMP_CWORD == 2)) && mapfile -t COMPREPLY < <(compgen -W '@NAMES@' -- "${whole}")
        return
    fi
    _countdownctl "${1}" "${whole}" "${words[COMP_CWORD - 1]}"
    if [[ "${words[COMP_CWORD - 1]}" = --cursor-file ]]; then
        compopt -o filenames
        return
    fi

    # 63 is the key ? of a list, which inserts nothing.
    ((COMP_TYPE == 63)) && return
    local -i index
    for index in "${!COMPREPLY[@]}"; do
        word="${COMPREPLY[index]#"${before}"}"
        case "${open}" in
        \') word="${word//\'/\'\\\'\'}" ;;
        \")
            word="${word//\\/\\\\}" word="${word//\"/\\\"}"
            word="${word//\$/\\\$}" word="${word//\`/\\\`}"
            ;;
        *) printf -v word %q "${word}" ;;
        esac
        # readline closes a quote, but not behind a character that is the same.
        [[ -n "${open}" && "${word}" = *"${open}" ]] && word+="${open}"
        COMPREPLY[index]="${word}"
    done
}

complete -F __countdownctl_complete countdownctl
