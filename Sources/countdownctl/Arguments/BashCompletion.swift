/// The completion script for bash.
enum BashCompletion {
    private static let shebang = "#!/bin/bash\n"

    /// Joins the words that bash divides at `@`, `:` and `=` before ArgumentParser's functions count them, because keys such
    /// as `@next` and `alice@example.org` are one word. bash replaces only the end of the word, its second argument.
    private static let joiner = #"""
        __countdownctl_complete() {
            local -a words=()
            local -i index place=0
            local rest="${COMP_LINE}"
            for ((index = 0; index < ${#COMP_WORDS[@]}; index++)); do
                if ((index > 0)) && [[ "${rest}" != [[:space:]]* ]]; then
                    words[${#words[@]} - 1]+="${COMP_WORDS[index]}"
                else
                    words+=("${COMP_WORDS[index]}")
                fi
                rest="${rest#*"${COMP_WORDS[index]}"}"
                ((index == COMP_CWORD)) && place=$((${#words[@]} - 1))
            done

            local word="${COMP_LINE:0:COMP_POINT}"
            word="${word##*[[:space:]]}"
            [[ "${word}" = *"${2}" ]] || word="${2}"
            local -r before="${word%"${2}"}"

            local -a COMP_WORDS=("${words[@]}")
            local -i COMP_CWORD="${place}"
            _countdownctl "${1}" "${word}" "${words[place - 1]}"
            COMPREPLY=("${COMPREPLY[@]#"${before}"}")
        }

        complete -o filenames -F __countdownctl_complete countdownctl
        """#

    /// Adds the function to ArgumentParser's script for bash; any other text stays as it is.
    static func joiningWords(_ text: String) -> String {
        text.hasPrefix(shebang) ? "\(text)\n\n\(joiner)" : text
    }
}
