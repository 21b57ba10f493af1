<?php
/** As much of WordPress as the plugin uses, written from its documentation: php wordpress_stub.php PLUGIN ACTION < JSON */

define('ABSPATH', '/');
define('POSTIL_URL', getenv('POSTIL_URL'));
define('POSTIL_TOKEN', getenv('POSTIL_TOKEN'));

class WP_Error {}

class WP_Post {
    public function __construct(public int $ID, public string $post_title, public string $post_content) {}
}

class WP_Comment {
    public string $comment_ID = '31';
    public string $comment_post_ID = '7';
    public function __construct(public string $comment_content) {}
}

$hooks = [];

function add_filter(string $name, callable $do, int $priority = 10, int $arguments = 1): void {
    $GLOBALS['hooks'][$name] = $do;
}
function add_action(string $name, callable $do): void {
    $GLOBALS['hooks'][$name] = $do;
}
function add_meta_box(string $id, string $title, callable $do, string $screen, string $context): void {
    $GLOBALS['hooks']["box $id"] = $do;
}
function esc_html(string $text): string {
    return htmlspecialchars($text, ENT_QUOTES);
}
function esc_url(string $url): string {
    return preg_match('~^https?://~', $url) ? htmlspecialchars($url, ENT_QUOTES) : '';
}
function wp_strip_all_tags(string $text): string {
    return strip_tags($text);
}
function current_user_can(string $capability): bool {
    return $capability === 'moderate_comments' && ($GLOBALS['given']['moderator'] ?? true);
}
function wp_json_encode($value) {
    return json_encode($value);
}
function wp_remote_post(string $url, array $how) {
    $head = implode("\r\n", array_map(fn($name, $value) => "$name: $value", array_keys($how['headers']), $how['headers']));
    $http = ['method' => 'POST', 'header' => $head, 'content' => $how['body'], 'timeout' => $how['timeout'],
             'ignore_errors' => true];
    $body = @file_get_contents($url, false, stream_context_create(['http' => $http]));
    if ($body === false) {
        return new WP_Error();
    }
    preg_match('~ (\d{3})~', $http_response_header[0], $found);
    return ['response' => ['code' => (int) $found[1]], 'body' => $body];
}
function is_wp_error($thing): bool {
    return $thing instanceof WP_Error;
}
function wp_remote_retrieve_response_code(array $answer) {
    return $answer['response']['code'];
}
function wp_remote_retrieve_body(array $answer): string {
    return $answer['body'];
}

require $argv[1];
$given = json_decode(stream_get_contents(STDIN), true);
if ($argv[2] === 'screen') {
    echo json_encode($hooks['pre_comment_approved']($given['approved'], ['comment_content' => $given['text']]));
} elseif ($argv[2] === 'decide') {
    $hooks['transition_comment_status']($given['new'], $given['old'], new WP_Comment($given['text']));
} else {
    $hooks['add_meta_boxes']();
    $hooks['box postil'](new WP_Post(7, $given['title'], $given['content']));
}
