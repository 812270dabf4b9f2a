"""Importing a file in the console, from the drop to the undo, in a real browser (docs/console.md)."""

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from support.browser import wait_for

DAY = 24 * 3600 * 1000  # in milliseconds
HEADER = "E-Mail;Vorname;Nachname;Land;Geburtsdatum;T-Shirt-Größe;Notizen"

# A file is read only after window.readFile(); its sample is read at once.
UNREAD = """const real = Blob.prototype.stream
const held = new Promise(go => { window.readFile = go })
Blob.prototype.stream = function () {
    return real.call(this).pipeThrough(new TransformStream({transform: (part, out) => held.then(() => out.enqueue(part))}))
}"""
WITHOUT_DATABASE = "IDBFactory.prototype.open = () => { throw new DOMException('refused', 'SecurityError') }"
COUNTS = "return [...document.querySelectorAll('.counts div')].map(one => [one.querySelector('dt').innerText, one.querySelector('dd').innerText])"


@pytest.fixture
def file_of(tmp_path):
    def write(lines, name="members.csv", encoding="windows-1252"):
        path = tmp_path / name
        path.write_bytes("\r\n".join(lines).encode(encoding))
        return str(path)
    return write


def in_files(browser, mode, action, *arguments):
    """The result of a request of the browser's database of files. `action` is JavaScript with `store` and `args`."""
    return browser.web.execute_async_script(f"""const [args, done] = arguments
const opening = indexedDB.open("muster-imports", 1)
opening.onupgradeneeded = () => opening.result.createObjectStore("files")
opening.onsuccess = () => {{
  const store = opening.result.transaction("files", "{mode}").objectStore("files")
  const request = {action}
  request.onsuccess = () => {{ opening.result.close(); done(request.result) }} }}""", arguments)


def kept_files(browser):
    """The job ids whose files the browser keeps, in order."""
    return in_files(browser, "readonly", "store.getAllKeys()")


def keep_file(browser, job_id, age):
    in_files(browser, "readwrite", "store.put({ keptAt: Date.now() - args[1] }, args[0])", job_id, age)


def rows(count, first=1):
    return [f"person{number}@import.example;Jörg;Nr {number};DE;28.02.1990;M;note" for number in range(first, first + count)]


def test_a_file_is_mapped_checked_corrected_imported_and_undone(at, file_of, module_org):
    browser = at("imports")
    browser.sees("No imports in the last 30 days")
    browser.check("imports-empty")
    browser.press("Import a file")
    browser.sees("Drop a CSV file here")
    browser.check("import-file")
    bad = ["not an address;Ann;Bad;DE;31.12.1980;L;", "person1@import.example;Twice;;DE;;;", "big@import.example;Bo;Big;XX;;HUGE;"]
    browser.element("input[type=file]").send_keys(file_of([HEADER, *rows(2500), *bad]))
    browser.sees("1 column will not be imported.")
    assert browser.element("select[aria-label='Field for Vorname']").get_attribute("value") == "first_name"
    assert browser.element("select[aria-label='Field for T-Shirt-Größe']").get_attribute("value") == "attribute:shirt_size"
    browser.sees("Jörg")
    assert browser.labeled("Dates are written as").get_attribute("value") == "dmy"
    browser.check("import-columns")
    browser.press("Upload and check")
    browser.sees("Rows to correct", 60)
    browser.sees("2,503")
    browser.sees("an earlier row has the same address")
    browser.check("import-checked")

    browser.press("Correct", "//tr[contains(., 'not an address')]")
    browser.sees("Correct row 2501")
    browser.sees("Other forms, such as 28.02.1990, work if they can mean one day only.")
    browser.check("import-correct")
    browser.fill("Mail address", "ann@import.example")
    browser.fill("Date of birth", "01.02.1981")
    browser.press("Save")
    browser.sees("This value is not a day between 1900-01-01 and yesterday, as YYYY-MM-DD")
    browser.web.get_log("browser")
    browser.fill("Date of birth", "31.12.1981")
    browser.press("Save")
    browser.sees("The row was corrected.")
    browser.sees("Rows were corrected.")
    browser.sees("Open for corrections")
    assert "Uploading" not in browser.text()
    browser.sees("person1@import.example")
    browser.check("import-reopened")
    browser.press("All imports")
    browser.sees("Open for corrections")
    browser.press("members.csv")
    browser.press("Check again")
    browser.sees("Import 2,501 rows", 60)
    browser.has_focus("Result of the check")
    browser.press("Import 2,501 rows")
    browser.sees("2 rows with errors are left out")
    browser.check("import-commit")
    browser.press("Import now")
    browser.sees("The import is complete.", 60)
    browser.sees("Rows that were not imported")
    browser.has_focus("Result of the import")
    assert browser.web.execute_script(COUNTS)[1:3] == [["Created", "2,501"], ["Attached or completed", "0"]]
    browser.sees("Created: members whom Muster did not know before.")
    browser.check("import-outcome")
    ann = module_org.api.get_json("/v1/users", params={"email": "ann@import.example"})["users"][0]
    assert (ann["first_name"], ann["dob"], ann["attributes"]) == ("Ann", "1981-12-31", {"shirt_size": "L"})

    browser.press("Undo import")
    browser.sees("2,501 members are removed.")
    browser.check("import-undo")
    browser.press("Undo now")
    browser.sees("The import was undone.", 60)
    browser.has_focus("Result of the undo")
    browser.press("All imports")
    browser.sees("members.csv")
    browser.check("imports")
    assert module_org.api.get_json("/v1/users", params={"total": "true"})["total"]["count"] == 0


def test_a_reload_continues_the_upload(at, browser, file_of, module_org, stack):
    browser = at("imports/new")
    browser.element("input[type=file]").send_keys(file_of([HEADER, *rows(10000)], encoding="utf-8"))
    browser.press("Upload and check")
    browser.sees("Uploading")
    browser.reload()
    browser.sees("Import 10,000 rows", 90)
    browser.press("Cancel import")
    browser.check("import-cancel")
    browser.press("Cancel import", "//dialog")
    browser.sees("The import was canceled.")
    wait_for(lambda: kept_files(browser) == [], "the browser to delete the file")


def test_an_upload_works_without_the_database_of_the_browser(own_browser, file_of, module_org):
    own_browser.web.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WITHOUT_DATABASE})
    own_browser.sign_in(module_org.new_admin("owner"))
    own_browser.open(f"#/o/{module_org.id}/imports/new")
    own_browser.element("input[type=file]").send_keys(file_of([HEADER, *rows(2)]))
    own_browser.press("Upload and check")
    own_browser.sees("Import 2 rows", 60)
    own_browser.press("Cancel import")
    own_browser.press("Cancel import", "//dialog")
    own_browser.sees("The import was canceled.")


def test_a_person_who_leaves_while_the_file_is_read_creates_no_import(at, file_of):
    browser = at("imports/new")
    browser.web.execute_script(UNREAD)
    browser.element("input[type=file]").send_keys(file_of([HEADER, *rows(1)]))
    browser.press("Upload and check")
    browser.sees("Reading the file…")
    assert not browser.web.find_element("xpath", "//button[.='Choose another file']").is_enabled()
    browser.press("Members", "//nav")
    browser.sees("Add a member")
    browser.press("Imports", "//nav")
    browser.press("Import a file")
    browser.sees("Drop a CSV file here")
    browser.requests()
    browser.web.execute_async_script("readFile(); setTimeout(arguments[0], 1000)")
    assert not [url for url in browser.requests() if url.endswith("/v1/imports")]
    browser.sees("Drop a CSV file here")


def test_leaving_asks_while_the_file_with_changed_columns_is_read(at, file_of):
    browser = at("imports/new")
    browser.web.execute_script(UNREAD)
    browser.element("input[type=file]").send_keys(file_of([HEADER, *rows(1)]))
    browser.element("select[aria-label='Field for Notizen']").find_element("xpath", ".//option[.='Display name']").click()
    browser.press("Upload and check")
    browser.sees("Reading the file…")
    browser.press("Members", "//nav")
    browser.sees("Leave without saving?")
    browser.press("Leave", "//dialog")
    browser.sees("Add a member")


def test_an_import_during_another_one_leads_to_that_one(at, file_of, module_org):
    active = module_org.create_import()
    browser = at("imports/new")
    browser.element("input[type=file]").send_keys(file_of([HEADER, *rows(1)]))
    browser.press("Upload and check")
    browser.press("Another import is active. Finish or cancel it first.")
    wait_for(lambda: browser.web.current_url.endswith(f"/imports/{active['id']}"), "the page of the active import")
    browser.web.get_log("browser")  # the 409
    module_org.cancel(active["id"])


def test_rows_with_another_fault_are_shown_after_a_correction(at, module_org):
    job = module_org.validated([{"email": "one@open.example"}] * 2 + [{"email": "two@open.example", "attributes": {"unknown": "x"}}], declared_total=3)
    browser = at(f"imports/{job['id']}")
    browser.sees("1 row: an earlier row has the same address")
    browser.web.find_element("xpath", "//button[contains(., 'an earlier row has the same address')]").click()
    wait_for(lambda: "two@open.example" not in browser.text(), "the rows of the reason")
    browser.press("Correct", "//tr[contains(., 'one@open.example')]")
    browser.fill("Mail address", "other@open.example")
    browser.press("Save")
    browser.sees("Rows were corrected.")
    browser.sees("two@open.example")
    module_org.cancel(job["id"])


def test_a_correction_that_is_rejected_shows_that_the_import_is_open(at, module_org):
    job = module_org.validated([{"email": "one@open.example"}] * 2, declared_total=2)
    browser = at(f"imports/{job['id']}")
    browser.sees("Import 1 row")
    browser.press("Correct", "//tr[contains(., 'one@open.example')]")
    browser.fill("Mail address", "no address")
    browser.press("Save")
    browser.sees("not an email address")
    assert browser.labeled("Mail address").get_attribute("value") == "no address"
    browser.web.get_log("browser")
    browser.press("Cancel", "//dialog")
    browser.sees("Open for corrections")
    browser.sees("The import is open for corrections. Correct rows, or check the file again.")
    browser.sees("Check again")
    assert "Import 1 row" not in browser.text() and "Rows were corrected" not in browser.text()
    module_org.cancel(job["id"])


def test_the_browser_keeps_a_file_only_while_its_job_takes_rows(at, browser, module_org):
    """A reload at the end of an upload, a cancel or a closed tab must leave no file behind."""
    columns = [{"sourceColumn": "Email", "target": "core_field", "fieldKey": "email"}]
    job_id = module_org.create_import(declared_total=1, mapping={"columns": columns})["id"]
    module_org.cancel(job_id)
    browser = at("imports/new")
    in_files(browser, "readwrite", "store.clear()")
    for kept_id, age in ((job_id, 0), ("job of yesterday", DAY), ("job of today", 0)):
        keep_file(browser, kept_id, age)
    at("imports")
    wait_for(lambda: kept_files(browser) == sorted([job_id, "job of today"]), "the list to delete an old file")
    keep_file(browser, "job of yesterday", DAY)
    at(f"imports/{job_id}")
    wait_for(lambda: kept_files(browser) == ["job of today"], "the import to delete two files")
    in_files(browser, "readwrite", "store.clear()")


def cancel_picker(browser):
    """Opens the browser's picker of files, which closes without a choice."""
    picker = {"enabled": True, "cancel": True}
    browser.web.execute_cdp_cmd("Page.setInterceptFileChooserDialog", picker)
    browser.web.execute_script("addEventListener('cancel', () => { window.isCanceled = true })")
    ActionChains(browser.web).click(browser.element("input[type=file]")).perform()  # chromedriver refuses its own click
    wait_for(lambda: browser.web.execute_script("return window.isCanceled"), "the picker to close")
    browser.web.execute_cdp_cmd("Page.setInterceptFileChooserDialog", picker | {"enabled": False})


def test_another_browser_asks_for_the_same_file(at, browser, file_of, module_org):
    columns = [{"sourceColumn": "Email", "target": "core_field", "fieldKey": "email"},
               {"sourceColumn": "Name", "target": "core_field", "fieldKey": "display_name"}]
    job = module_org.create_import(declared_total=3, mapping={"columns": columns})
    module_org.stage(job["id"], [{"email": "one@same.example"}])
    browser = at(f"imports/{job['id']}")
    browser.sees("The upload stopped after 1 of 3 rows.")
    browser.check("import-unfinished")
    browser.element("input[type=file]").send_keys(file_of(["Email,Other", "x@same.example,X"], "other.csv"))
    browser.sees("This file has other columns")
    cancel_picker(browser)
    assert browser.element("input[type=file]").get_attribute("value").endswith("other.csv")
    browser.sees("This file has other columns")
    lines = ["Email,Name", "one@same.example,One", "two@same.example,Two", "three@same.example,Three"]
    browser.element("input[type=file]").send_keys(file_of(lines, "same.csv"))
    browser.sees("Import 3 rows", 60)
    module_org.cancel(job["id"])


@pytest.mark.parametrize("lines, says", [(["Name,Town", "Ann,York"], "Choose the column with the mail address"), ([""], "The file has no rows")])
def test_a_file_without_addresses_or_rows_is_explained(at, file_of, lines, says):
    browser = at("imports/new")
    browser.element("input[type=file]").send_keys(file_of(lines))
    browser.sees(says)


def drop(browser, path, css):
    """Drops a file on the middle of an element, as a person does with the mouse."""
    box = browser.web.execute_script("const {x, y, width, height} = arguments[0].getBoundingClientRect(); return [x + width / 2, y + height / 2]", browser.element(css))
    for step in ("dragEnter", "dragOver", "drop"):
        browser.web.execute_cdp_cmd("Input.dispatchDragEvent", {"type": step, "x": box[0], "y": box[1],
                                                                "data": {"items": [], "files": [path], "dragOperationsMask": 1}})


def test_a_file_that_misses_the_box_is_taken_and_a_second_one_does_not_replace_the_page(at, file_of):
    browser = at("imports/new")
    browser.sees("Drop a CSV file here")
    drop(browser, file_of([HEADER, *rows(2)], "dropped.csv"), "main h1")
    browser.sees("File: dropped.csv.")
    drop(browser, file_of([HEADER, *rows(2)], "other.csv"), "main h1")
    drop(browser, file_of([HEADER, *rows(2)], "other.csv"), ".steps")
    browser.press("Choose another file")
    browser.sees("Drop a CSV file here")
    drop(browser, file_of([HEADER, *rows(2)], "other.csv"), ".drop")
    browser.sees("File: other.csv.")
    browser.check_quiet("dropped")


def test_an_interrupted_upload_takes_a_file_that_is_dropped(at, file_of, module_org):
    columns = [{"sourceColumn": "E-Mail", "target": "core_field", "fieldKey": "email"}]
    job = module_org.api.post("/v1/imports", json={"file_name": "again.csv", "declared_total": 1, "mapping": {"columns": columns}}, expect=201).json()
    browser = at(f"imports/{job['id']}")
    browser.sees("To continue, choose the same file again")
    drop(browser, file_of(["E-Mail", "again@import.example"], "again.csv"), "main h1")
    browser.sees("Result of the check", 30)
    browser.press("Cancel import")
    browser.press("Cancel import", "//dialog")
    browser.sees("The import was canceled.")
    browser.check_quiet("dropped-again")
