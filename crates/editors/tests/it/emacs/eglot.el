;;; eglot.el --- renames a variable and lets the server do the rest  -*- lexical-binding: t -*-

;; Run in batch mode by the tests; what it says is looked at.

(require 'eglot)

;; A number of seconds would end with the first bytes that any process says.
(setq eglot-sync-connect t
      eglot-connect-timeout 60
      eglot-events-buffer-config '(:size 0))

(find-file (getenv "NUDGE_TEST_FILE"))
(python-mode)
(let ((eglot-server-programs
       `((python-mode . (,(getenv "NUDGE_TEST_BIN") "lsp")))))
  (call-interactively #'eglot))
(message "encoding: %S" (plist-get (eglot--capabilities (eglot-current-server)) :positionEncoding))

(defun nudge-test-actions ()
  "The code actions of the server at point."
  (eglot--signal-textDocument/didChange)
  (eglot-code-actions (point) (point) "refactor.nudge"))

(goto-char (point-min))
(search-forward "total")
(replace-match "summe")
(let ((action (car (nudge-test-actions))))
  (message "action: %S" (plist-get action :title))
  (eglot-execute (eglot-current-server) action))
(message "left: %d" (length (nudge-test-actions)))
(save-buffer)
(eglot-shutdown (eglot-current-server))
