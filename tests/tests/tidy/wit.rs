//! The contract with plugins explains itself.

use crate::tree::File;

/// Items without a comment above them.
pub(crate) fn documented(file: &File) -> Vec<String> {
    let mut found = Vec::new();
    let mut explained = false;
    for (at, line) in file.text.lines().enumerate() {
        let line = line.trim();
        let silent = ["package ", "use ", "include ", "import ", "export ", "}"];
        if line.starts_with("///") {
            explained = true;
        } else if line.starts_with('@') {
            // A gate such as `@since(…)` stands between the comment and its item.
        } else if line.is_empty()
            || line.starts_with("//")
            || silent.iter().any(|word| line.starts_with(word))
        {
            explained = false;
        } else {
            if !explained {
                found.push(format!("{}:{} `{line}`", file.path, at + 1));
            }
            explained = false;
        }
    }
    found
}

#[test]
fn an_item_without_words_is_found() {
    let text = "package a:b;\n\n/// One.\ninterface one {\n  use x.{y};\n\n  /// Two.\n  record two {\n    /// Three.\n    \
                three: u32,\n    four: u32,\n  }\n\n  five: func();\n\n  /// Six.\n  @since(version = 1.0.0)\n  six: func();\n}\n";
    let found = documented(&File::new("x.wit", text));
    assert_eq!(found, ["x.wit:11 `four: u32,`", "x.wit:14 `five: func();`"]);
}
